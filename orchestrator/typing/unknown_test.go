package typing

import (
	"strings"
	"testing"
)

func TestWhatIsEchoed(t *testing.T) {
	long := "The agent you waited for has ended.\nTo take its work over, say git merge BRANCH."
	for name, c := range map[string]struct {
		before, now, prompt string
		end, part           bool
	}{
		"nothing":                     {"ready\n", "ready\n", "please do it", false, false},
		"a short one":                 {"ready\n", "ready\nplease do it", "please do it", true, false},
		"typed before, and again":     {"please do it\n", "please do it\nplease do it", "please do it", true, false},
		"typed before, and not again": {"please do it\n", "please do it\nok", "please do it", false, false},
		"in a frame":                  {"", "│ The agent you waited for has │\n│ ended. To take its work over,│\n│ say git merge BRANCH. │", long, true, true},
		"the end only":                {"", "… over, say git merge BRANCH.", long, true, true},
		"the beginning only":          {"", "The agent you waited", long, false, true},
		"another text between":        {"", strings.Replace(long, "git merge", "git\nan answer\nmerge", 1), long, false, true},
		"a placeholder":               {"", "> [Pasted text #1 +2 lines]", long, true, false},
		"the placeholder of before":   {"[Pasted text #1]", "[Pasted text #1]", long, false, false},
	} {
		if end, part := echoed(c.before, c.now, c.prompt); end != c.end || part != c.part {
			t.Errorf("%s: end %v, part %v", name, end, part)
		}
	}
}
