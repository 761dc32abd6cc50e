package cli

import "testing"

func TestStanding(t *testing.T) {
	looked := LookedAt{CLI: "claude", Version: "2.1.330"}
	for version, want := range map[string][2]string{
		"2.1.330":        {SameVersion, ""},
		"2.1.330+build":  {SameVersion, ""},
		"2.1.331":        {"newer", "newer than any that was looked at (2.1.330)"},
		"2.1.1000":       {"newer", "newer than any that was looked at (2.1.330)"},
		"2.2":            {"newer", "newer than any that was looked at (2.1.330)"},
		"10.0.0":         {"newer", "newer than any that was looked at (2.1.330)"},
		"2.1.331-beta.1": {"newer", "newer than any that was looked at (2.1.330)"},
		"2.1.330-beta.1": {"older", "older than any that was looked at (2.1.330)"},
		"2.1.200":        {"older", "older than any that was looked at (2.1.330)"},
		"1.9.9":          {"older", "older than any that was looked at (2.1.330)"},
		"built in":       {"", ""},
		"2.1.330.4":      {"", ""},
		"":               {"", ""},
	} {
		if standing, words := looked.Standing(version); standing != want[0] || words != want[1] {
			t.Errorf("%q is %q: %q, want %q", version, standing, words, want)
		}
	}
	if got, _ := LookedAtOf("demo").Standing("9.9.9"); got != "" {
		t.Errorf("demo: %q", got)
	}
	if got, _ := LookedAtOf("claude").Standing("999.0.0"); got != "newer" {
		t.Errorf("claude 999: %q", got)
	}
}
