package states

import "testing"

func TestRenames(t *testing.T) {
	renamed := map[string]string{"a.txt": "b.txt", "src/old/x.go": "src/new/x.go"}
	own := func(paths ...string) map[string]bool {
		all := map[string]bool{}
		for _, path := range paths {
			all[path] = true
		}
		return all
	}
	for _, c := range []struct {
		own     map[string]bool
		changed string
		want    bool
	}{
		{own("a.txt"), "b.txt", true},
		{own("b.txt"), "a.txt", true},
		{own("a.txt"), "c.txt", false}, // another file, though a.txt was renamed
		{own("c.txt"), "b.txt", false},
		{own("b.txt"), "c.txt", false},
		{own("src/old/new.go"), "src/new/new.go", true}, // by the folder of x.go
		{own("src/new/new.go"), "src/old/new.go", true},
		{own("src/old/new.go"), "src/other/new.go", false},
		{own("src/old/new.go"), "src/new/other.go", false},
	} {
		if got := renames(renamed, c.own, c.changed); got != c.want {
			t.Errorf("%v, %s: %t", c.own, c.changed, got)
		}
	}
}
