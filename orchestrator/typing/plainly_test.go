package typing

import "testing"

func TestWhatAsksPlainly(t *testing.T) {
	for screen, want := range map[string]bool{
		"Overwrite? [y/N] ": true,
		"Go on (yes/no)":    true,
		"Do you trust the files in this folder?\n\n > 1. Yes, proceed\n   2. No, exit\n\nFilter: \n\n\n": true,
		"Trust this folder?\n❯ 1) Yes\n  2) No\n":                                                        true,
		"You can trust me.\n1. First\n2. Second\n> ":                                                     false,
		"Do you trust it?\n1. a\n2. b\n3\n4\n5\n6\n7\n8\n9\n10\nall done\n\n> ":                          false,
		"ready\n> ": false,
		"":          false,
	} {
		if got := asksPlainly().MatchString(screen); got != want {
			t.Errorf("%q: %v", screen, got)
		}
	}
}
