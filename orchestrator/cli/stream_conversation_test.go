package cli

import "testing"

func TestStreamConversation(t *testing.T) {
	for _, c := range []struct{ name, stdout, want string }{
		{"codex", `{"type":"thread.started","thread_id":"0199-a"}` + "\n" + `{"type":"turn.started"}` + "\n", "0199-a"},
		{"opencode", "warning: no JSON\n" + `{"type":"step_start","timestamp":1,"sessionID":"ses_7x"}`, "ses_7x"},
		{"claude", `{"type":"system","subtype":"init","session_id":"11111111-2222-4333-8444-555555555555"}`, "11111111-2222-4333-8444-555555555555"},
		{"the first counts", `{"session_id":"one"}` + "\n" + `{"session_id":"two"}`, "one"},
		{"an option is no id", `{"session_id":"--help"}` + "\n" + `{"session_id":"../x"}`, ""},
		{"text", "I am done.\n", ""},
		{"another type", `{"session_id":7}`, ""},
	} {
		if got := StreamConversation([]byte(c.stdout)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
