package turns

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEarlierTurnsOfAName(t *testing.T) {
	logged := map[string][]string{"fam": {"p", "gone", "kept"}, "fam_x": {"y"}}
	space := Names{
		Tagged: map[string]bool{"fam_p": true, "fam_v2_p": true, "fam_2_p": true, "fam_x_y": true, "family_p": true, "fam_live": true, "fam": true},
		hidden: map[string]bool{"fam_p": true, "fam_pruned": true, "fam_live": true, "fam_kept": true},
		owner:  map[string]string{"fam_x_y": "fam_x", "fam_p": "fam", "fam_gone": "fam", "fam_kept": "fam", "fam_live": "fam"},
		logged: func(sessionName string) []string { return logged[sessionName] },
		stays:  map[string]string{"fam_x_y": "/worktree", "fam_2_p": "refs/rescued", "fam_pruned": "refs/other"},
	}
	want := Earlier{
		Here: []string{"p", "kept"}, Elsewhere: []string{"gone"}, Fetched: []string{"v2_p"}, Stranger: []string{"live", "pruned"},
	}
	if diff := cmp.Diff(want, space.Of("fam"), cmp.AllowUnexported(Earlier{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Earlier{Fetched: []string{"p"}}, space.Of("fam_2"), cmp.AllowUnexported(Earlier{})); diff != "" {
		t.Error("a second session", diff)
	}
	if diff := cmp.Diff(Earlier{}, space.Of("f"), cmp.AllowUnexported(Earlier{})); diff != "" {
		t.Error("a free name", diff)
	}
	for name, want := range map[string]string{"fam": "refs/other", "fam_2": "refs/rescued", "fam_x": "/worktree", "fam_v2": "", "f": ""} {
		if got := space.Stays(name); got != want {
			t.Errorf("%s stays taken by %q, want %q", name, got, want)
		}
	}
}
