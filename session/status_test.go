package session

import "testing"

func TestEffective(t *testing.T) {
	tests := []struct {
		record Status
		tmux   Liveness
		want   Status
		reason string
	}{
		{StatusActive, TmuxAlive, StatusActive, ""},
		{StatusActive, TmuxDead, StatusStopped, ReasonTmuxGone},
		{StatusActive, TmuxUnknown, StatusActive, ReasonTmuxSilent},
		{StatusActive, "", StatusActive, ReasonTmuxSilent},
		{StatusStopped, TmuxAlive, StatusStopped, ReasonTmuxThere},
		{StatusStopped, TmuxDead, StatusStopped, ""},
		{StatusStopped, TmuxUnknown, StatusStopped, ReasonTmuxSilent},
		{StatusStopped, "", StatusStopped, ReasonTmuxSilent},
	}
	for _, tt := range tests {
		if got, reason := Effective(tt.record, tt.tmux); got != tt.want || reason != tt.reason {
			t.Errorf("%s, tmux %q: got %s, %q, want %s, %q", tt.record, tt.tmux, got, reason, tt.want, tt.reason)
		}
	}
}
