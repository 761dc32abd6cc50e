package orchestrator

import (
	"errors"
	"syscall"
	"testing"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/session/turn"
)

func TestOneShotResult(t *testing.T) {
	demo, _ := clis.New(nil).Get("demo")
	claude, _ := clis.New(nil).Get("claude")
	for _, c := range []struct {
		name    string
		cli     cli.CLI
		end     cli.Ended
		answer  string
		typ     string
		message string
	}{
		{"answer", demo, cli.Ended{Stdout: []byte("done\n")}, "done", "", ""},
		{"exit code", demo, cli.Ended{ExitCode: 7}, "", "", "demo ended with exit code 7"},
		{"last words", demo, cli.Ended{ExitCode: 1, Trace: "a\ndemo: error: b\n\n"}, "", "", "demo: error: b"},
		{"signal", demo, cli.Ended{ExitCode: -1, Signal: syscall.SIGKILL}, "", "signal", "demo was killed by signal 9 (SIGKILL)"},
		{"not started", demo, cli.Ended{Err: errors.New("x: no such file")}, "", "", "x: no such file"},
		{"success that says error", claude, cli.Ended{Stdout: []byte(`{"type":"result","subtype":"error_max_turns","is_error":true}` + "\n")}, "", "error_max_turns", "error_max_turns"},
		{"cut off", claude, cli.Ended{Stdout: []byte(`{"type":"assistant"}` + "\n")}, "", "", "claude ended with exit code 0"},
	} {
		answer, failed := turnResult(c.cli, c.end)
		if answer != c.answer || (failed != nil) != (c.message != "") {
			t.Errorf("%s: answer %q, failed %v", c.name, answer, failed)
			continue
		}
		if failed != nil && (failed.Message != c.message || failed.ErrorType != c.typ || failed.Reason != turn.ReasonError) {
			t.Errorf("%s: %+v", c.name, failed)
		}
	}
}
