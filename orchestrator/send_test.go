package orchestrator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config"
	"paw/session"
	"paw/session/turn"
)

func TestPromptThatJoinsATurnHasArrived(t *testing.T) {
	const prompt = "  say \"a < b && c\" é\nand more"
	for name, arrive := range map[string]func(one *turn.Turn, transcript string) error{
		"told by a hook": func(one *turn.Turn, _ string) error { return one.Execute(prompt) },
		"in the transcript": func(_ *turn.Turn, transcript string) error {
			return os.WriteFile(transcript, []byte(`{"old":true}`+"\n"+`{"prompt":"  say \"a < b && c\" é\nand more"}`+"\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Paw{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
			s := &session.Session{Name: "shop"}
			w := &session.Worktree{Agent: "one", TranscriptPath: filepath.Join(t.TempDir(), "transcript")}
			if err := os.WriteFile(w.TranscriptPath, []byte(`{"old":true}`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			one := turn.New(p.turnDir("shop", "one"), 1, p.Now)
			if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt}); err != nil {
				t.Fatal(err)
			}
			before := p.arrivalOf(s, w, prompt)
			if before.number != 1 || before.queued() {
				t.Fatalf("last turn %d, queued %v: the same prompt began that turn, and has not come again", before.number, before.queued())
			}
			if err := arrive(one, w.TranscriptPath); err != nil {
				t.Fatal(err)
			}
			if !before.queued() {
				t.Error("the prompt arrived, and nothing says so")
			}
		})
	}
}
