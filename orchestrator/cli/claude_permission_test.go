package cli_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli"
)

// TestClaudePermission: paw's hook answers a permission of claude once paw has, and ends without an answer once the user has.
func TestClaudePermission(t *testing.T) {
	const allow, deny = `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`,
		`{"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true},"hookEventName":"PermissionRequest"}}`
	asks := func(tool string) []byte {
		return fmt.Appendf(nil, `{"session_id":%q,"tool_name":%q,"tool_input":{"command":"make\nmake install"}}`, claudeEnds, tool)
	}
	begin := func(t *testing.T) (l lab, channel cli.Channel, one cli.Permission, prints chan string) {
		t.Helper()
		l = newLab(t)
		spec := l.with(claudeEnds)
		spec.StateDir = filepath.Join(t.TempDir(), "an [agent]")
		if err := os.Mkdir(spec.StateDir, 0o700); err != nil {
			t.Fatal(err)
		}
		l.registry("waiting", time.Now())
		channel, prints = get(t, "claude").Channel(spec), make(chan string, 1)
		go func() { prints <- get(t, "claude").Decide(t.Context(), spec, "PermissionRequest", asks("Bash")) }()
		if !poll.Until(t.Context(), poll.Tick, time.Minute, func() (waits bool) {
			one, waits = channel.Permission(t.Context())
			return waits
		}) {
			t.Fatal("no hook waits")
		}
		if one.Question != "Bash: make …" || channel.Open(t.Context()) {
			t.Errorf("%+v, and it takes prompts: %v", one, channel.Open(t.Context()))
		}
		return l, channel, one, prints
	}
	ends := func(t *testing.T, channel cli.Channel, one cli.Permission, prints chan string, want string) {
		t.Helper()
		if got := <-prints; got != want {
			t.Errorf("the hook prints %s", got)
		}
		if _, waits := channel.Permission(t.Context()); waits || !errors.Is(channel.Reply(t.Context(), one.ID, cli.Option{Label: "Yes"}), cli.ErrNotHandedOver) {
			t.Error("it can be answered still")
		}
	}
	for want, word := range map[string]string{allow: "Yes", deny: "No"} {
		t.Run(word, func(t *testing.T) {
			_, channel, one, prints := begin(t)
			took := cli.Option{Label: word}
			if err := channel.Reply(t.Context(), one.ID+"0", took); !errors.Is(err, cli.ErrNotHandedOver) {
				t.Errorf("another one: %v", err)
			}
			if err := channel.Reply(t.Context(), one.ID, took); err != nil {
				t.Error(err)
			}
			ends(t, channel, one, prints, want)
		})
	}
	for name, status := range map[string]string{"the user answers": "busy", "the next dialog": "waiting"} {
		t.Run(name, func(t *testing.T) {
			l, channel, one, prints := begin(t)
			n := 0
			poll.Until(t.Context(), poll.Tick, time.Minute, func() bool { // the hook has to see the first dialog before
				n++
				l.registry(status, time.Now().Add(time.Duration(n)*time.Second))
				return len(prints) > 0
			})
			ends(t, channel, one, prints, "")
		})
	}
	t.Run("several ask", func(t *testing.T) {
		_, channel, one, _ := begin(t)
		if err := os.WriteFile(one.ID+"0", []byte("Bash: other\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if now, waits := channel.Permission(t.Context()); waits {
			t.Errorf("which of them is on the screen? %+v", now)
		}
		if err := channel.Reply(t.Context(), one.ID, cli.Option{Label: "Yes"}); !errors.Is(err, cli.ErrNotHandedOver) {
			t.Error(err)
		}
	})
	t.Run("a question of the model", func(t *testing.T) {
		if got := get(t, "claude").Decide(t.Context(), newLab(t).with(claudeEnds), "PermissionRequest", asks("AskUserQuestion")); got != "" {
			t.Error(got)
		}
	})
}
