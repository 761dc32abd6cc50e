package launch

import "testing"

func TestWhatFailed(t *testing.T) {
	for screen, want := range map[string]string{
		"": "",
		"loading\nno such conversation\n\nPane is dead (status 1)":                                    "no such conversation",
		"Error: cannot read the rollout file\n\nStack backtrace:\n   0: <unknown>\n   5: <unknown>\n": "Error: cannot read the rollout file",
		"error: first\nerror: second\npaw recover shop":                                               "error: second",
	} {
		if got := whatFailed(screen); got != want {
			t.Errorf("%q: %q, want %q", screen, got, want)
		}
	}
}
