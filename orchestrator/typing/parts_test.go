package typing

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"paw/config"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
	"paw/tmux"
)

// TestATerminalIsNeverFull: the parts of a long prompt wait until a slow CLI has read those before. A terminal that is full hands
// over a half of the mark that begins or ends a paste, and a busy claude takes the rest for text.
func TestATerminalIsNeverFull(t *testing.T) {
	client, program, dir := paneWith(t, `while ! test -e end; do dd bs=65536 count=1 2>/dev/null | wc -c >>sizes; sleep 0.1; done`)
	sizes := filepath.Join(dir, "sizes")
	claude, _ := clis.New(nil).Get("claude")
	one := &sender{
		Agent: app.Agent{App: &app.App{Now: time.Now}, Session: &session.Session{}, Record: &session.Agent{}},
		cli:   claude, client: client, program: program, rows: 40, text: strings.Repeat("0123456789", 1500),
	}
	if err := one.pasteParts(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := len(one.text) + len(claude.Pastes(one.text, one.rows))*marksSize
	read, largest := 0, 0
	if !poll.Until(t.Context(), poll.Tick, time.Minute, func() bool {
		text, _ := os.ReadFile(sizes)
		read = 0
		for field := range strings.FieldsSeq(string(text)) {
			n, _ := strconv.Atoi(field)
			read, largest = read+n, max(largest, n)
		}
		return read >= want
	}) {
		t.Fatalf("%d of %d bytes were read", read, want)
	}
	if largest == terminalSize {
		t.Error("the terminal was full")
	}
}

// TestAPromptThatIsNotReadIsPastedOnce: a CLI that hangs shows its empty box, reads nothing, and has the prompt all the same. Typed
// once more it would be there twice.
func TestAPromptThatIsNotReadIsPastedOnce(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}}
	now := time.Now()
	h.Now = func() time.Time { now = now.Add(5 * time.Second); return now }
	claude, _ := clis.New(nil).Get("claude")
	line := strings.Repeat("─", 80)
	client, program, dir := paneWith(t, `printf '\033[H`+line+`❯ \r\n`+line+`\033[2;3H'
		while ! test -e go; do sleep 0.1; done; exec cat >read`)
	one := typistIn(t, h, claude, "do: say Still.")
	one.text, one.client, one.program, one.ready = one.prompt, client, program, claude.Facts().Ready
	if !poll.Until(t.Context(), poll.Tick, time.Minute, func() bool { return one.isEmpty(t.Context()) }) {
		t.Fatalf("no box: %s", one.onScreen(t.Context()))
	}
	if err := one.paste(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := client.Type(t.Context(), program, "the end"); err != nil {
		t.Fatal(err)
	}
	var read []byte
	if !poll.Until(t.Context(), poll.Tick, time.Minute, func() bool {
		read, _ = os.ReadFile(filepath.Join(dir, "read"))
		return strings.Contains(string(read), "the end")
	}) {
		t.Fatalf("read: %q", read)
	}
	if n := strings.Count(string(read), one.text); n != 1 {
		t.Errorf("pasted %d times: %q", n, read)
	}
}

// paneWith runs a script of sh in a new folder and in a pane of 80 columns, whose terminal is raw and asks for marked pastes.
func paneWith(t *testing.T, script string) (client *tmux.Client, program tmux.Program, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	client = tmux.New(filepath.Join(dir, "s"))
	out, err := exec.Command("tmux", "-u", "-S", client.Socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", dir,
		"-P", "-F", "#{pane_id} #{pane_pid}", `stty raw -echo; printf '\033[?2004hready'; `+script).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", client.Socket, "kill-server").Run() })
	pane, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	pid, _ := strconv.Atoi(number)
	if !poll.Until(t.Context(), poll.Tick, time.Minute, func() bool {
		shown, err := client.Capture(t.Context(), pane)
		return err == nil && strings.TrimSpace(shown) != ""
	}) {
		t.Fatal("the program shows nothing")
	}
	return client, tmux.Program{Pane: pane, PID: pid}, dir
}
