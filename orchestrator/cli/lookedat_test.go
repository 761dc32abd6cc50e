package cli

import "testing"

func TestStanding(t *testing.T) {
	looked := LookedAt{CLI: "claude", Oldest: "2.1.197", Newest: "2.1.330"}
	for version, want := range map[string]struct {
		standing Standing
		text     string
	}{
		"2.1.330":         {StandingSame, ""},
		"2.1.197":         {StandingSame, ""},
		"2.1.330+build":   {StandingSame, ""},
		"2.1.331":         {StandingNewer, "newer than any that was looked at (2.1.330)"},
		"2.1.1000":        {StandingNewer, "newer than any that was looked at (2.1.330)"},
		"2.2":             {StandingNewer, "newer than any that was looked at (2.1.330)"},
		"10.0.0":          {StandingNewer, "newer than any that was looked at (2.1.330)"},
		"2.1.331-beta.1":  {StandingNewer, "newer than any that was looked at (2.1.330)"},
		"2.1.330-beta.1":  {StandingBetween, "between those that were looked at (2.1.197 and 2.1.330)"},
		"2.1.200":         {StandingBetween, "between those that were looked at (2.1.197 and 2.1.330)"},
		"2.1.197-alpha.9": {StandingOlder, "older than any that was looked at (2.1.197)"},
		"2.1.99":          {StandingOlder, "older than any that was looked at (2.1.197)"},
		"1.9.9":           {StandingOlder, "older than any that was looked at (2.1.197)"},
		"built in":        {StandingUnknown, ""},
		"2.1.330.4":       {StandingUnknown, ""},
		"":                {StandingUnknown, ""},
	} {
		if got := looked.standing(version); got != want.standing || looked.Describe(got) != want.text {
			t.Errorf("%q is %q: %q, want %q: %q", version, got, looked.Describe(got), want.standing, want.text)
		}
	}
	if got, _ := StandingOf("demo", "9.9.9"); got != StandingUnknown {
		t.Errorf("demo: %q", got)
	}
	if got, looked := StandingOf("claude", "999.0.0"); got != StandingNewer || looked.CLI != "claude" {
		t.Errorf("claude 999: %q, %+v", got, looked)
	}
}
