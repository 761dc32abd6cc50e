//go:build clis

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCLIsLimit has CLIs that report usage limits reach a limit that is lifted in two hours: paw
// says so and until when, and takes the next prompt when the limit is lifted.
func TestCLIsLimit(t *testing.T) {
	for cli, want := range map[string]string{"claude": "error", "codex": "error", "opencode": "running"} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			if cli == "claude" {
				w.subscribe()
			}
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			// codex takes a prompt while it still starts, and begins the turn afterwards; on a busy
			// machine that takes longer than paw waits.
			w.await("the first prompt is typed", func() bool {
				out := w.pawInput("do: say Hello.", "send", cli)
				if out.code == 6 && cli != "codex" {
					t.Fatal(out.stderr)
				}
				return out.code == 0 || out.code == 6 // with any other exit code, paw has typed nothing
			})
			w.finished(0)
			lifted := time.Now().Add(2 * time.Hour)
			w.send("do: limit 7200")
			var limited agentJSON
			w.await("the limit is told", func() bool {
				limited = w.agent(cli)
				return limited.Limit != nil
			})
			t.Logf("%s, %s, %s", limited.State, text(limited.Reason), limited.Limit.Until)
			if limited.State != want || limited.Limit.Until == nil || limited.Limit.Until.Sub(lifted).Abs() > time.Minute {
				t.Errorf("%s until %v, not %s until about %s", limited.State, limited.Limit.Until, want, lifted)
			}
			screen := w.visible()
			t.Log(screen)
			if want == "error" {
				// codex calls no hook at a limit; a command that reads codex's record first gives a
				// hook some seconds.
				w.await("its turn has ended by the limit", func() bool {
					last := w.last()
					return text(last.Reason) == "error" && last.Limit != nil && last.Limit.Until != nil
				})
			}
			if cli == "codex" { // codex's server says that 100 percent are used
				asks := "asks whether to switch to gpt-6-luna, near its rate limits"
				w.await("status says what codex asks", func() bool { return strings.Contains(text(w.agent(cli).Reason), asks) })
				if out := w.pawInput("do: say Next.", "send", cli); out.code != 3 || !strings.Contains(out.stderr, asks) {
					t.Errorf("send: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
				}
			}
			line := w.ok(w.paw("next", "--dry-run")).stdout
			if !strings.Contains(line, cli) {
				t.Errorf("paw next: %s", line)
			}
			border := regexp.MustCompile(cli + `: limited until \d\d:\d\d|` + cli + `: limited until \d+ \w+ \d\d:\d\d`)
			if cli != "codex" { // codex calls no hook, and no command looks at the session
				w.await("its border says so", func() bool {
					return border.MatchString(w.tmux("list-panes", "-a", "-F", "#{@paw_label}").stdout)
				})
			}
		})
	}
}

// subscribe logs claude in with a token of the scripted server: only a claude with a subscription
// reports limits that are lifted at a given time.
func (w *cliWorld) subscribe() {
	w.t.Helper()
	credentials, err := json.Marshal(map[string]any{"claudeAiOauth": map[string]any{
		"accessToken": "sk-ant-oat01-scripted", "refreshToken": "sk-ant-ort01-scripted", "expiresAt": time.Now().Add(24 * time.Hour).UnixMilli(),
		"scopes": []string{"user:inference", "user:profile"}, "subscriptionType": "max", "rateLimitTier": "default_claude_max_5x",
	}})
	if err != nil {
		w.t.Fatal(fmt.Errorf("credentials: %w", err))
	}
	w.write(filepath.Join(w.root, "home/.claude"), ".credentials.json", string(credentials))
	w.env = slices.DeleteFunc(w.env, func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_API_KEY=") })
}
