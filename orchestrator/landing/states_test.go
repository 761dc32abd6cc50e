package landing

import "testing"

func TestNewestKnownState(t *testing.T) {
	none := numbered{turn: -1}
	heads := map[string]string{"turn2": "c2", "turn3": "c3", "up2": "m", "up3": "m", "m": "m", "clean2": "clean2"}
	for name, c := range map[string]struct {
		ended, updated numbered
		tip            string
		want           known
	}{
		"nothing":                      {none, none, "base", known{commit: "base"}},
		"the end of a turn":            {numbered{2, "turn2"}, none, "c2", known{commit: "turn2", turn: 2, whole: true}},
		"an update after it":           {numbered{2, "turn2"}, numbered{2, "up2"}, "m", known{commit: "up2", whole: true}},
		"an update before any turn":    {none, numbered{0, "up2"}, "m", known{commit: "up2", whole: true}},
		"a turn after the update":      {numbered{3, "turn3"}, numbered{2, "up2"}, "c3", known{commit: "turn3", turn: 3, whole: true}},
		"the update was taken back":    {numbered{2, "turn2"}, numbered{2, "up2"}, "c2", known{commit: "turn2", turn: 2, whole: true}},
		"the branch went on":           {numbered{2, "turn2"}, none, "new", known{commit: "new", left: "turn2", leftAt: 2}},
		"it went on after the update":  {numbered{2, "turn2"}, numbered{2, "up2"}, "new", known{commit: "new", left: "up2", leftAt: 2}},
		"all was committed in it":      {numbered{2, "clean2"}, none, "new", known{commit: "new"}},
		"the branch is gone":           {numbered{2, "turn2"}, none, "", known{commit: "turn2", turn: 2, whole: true}},
		"the branch and all turns are": {none, none, "", known{}},
	} {
		if got := (lastSnapshots{ended: c.ended, updated: c.updated}).known(c.tip, heads); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
