package objects

import (
	"strings"
	"testing"
)

// What git merge-tree prints is read whole, or refused.
func TestMergesIn(t *testing.T) {
	tree, pair := strings.Repeat("a", 40), [2]string{strings.Repeat("b", 40), strings.Repeat("c", 40)}
	clean, conflict := "1\x00"+tree+"\x00\x00", "0\x00"+tree+"\x00a.txt\x00\x00\x00"
	all, err := mergesIn(clean+conflict, [][2]string{pair, pair})
	if err != nil || len(all) != 2 || all[0].Tree != tree || len(all[0].Conflicts) != 0 || len(all[1].Conflicts) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	for _, out := range []string{
		"1\x00no tree\x00\x00", "1\x00" + tree + "\x00a.txt\x00\x00", "0\x00" + tree + "\x00\x00\x00", "1\x00" + tree + "\x00cut", "", clean + clean,
	} {
		if all, err := mergesIn(out, [][2]string{pair}); err == nil {
			t.Errorf("%q is read as %+v", out, all)
		}
	}
}
