package typing

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
	"paw/tmux"
)

// TestATerminalIsNeverFull: the parts of a long prompt wait until a slow CLI has read those before. A terminal that is full hands
// over a half of the mark that begins or ends a paste, and a busy claude takes the rest for text.
func TestATerminalIsNeverFull(t *testing.T) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, sizes, end := filepath.Join(dir, "s"), filepath.Join(dir, "sizes"), filepath.Join(dir, "end")
	slow := `stty raw -echo; printf '\033[?2004hready'
		while ! test -e ` + end + `; do dd bs=65536 count=1 2>/dev/null | wc -c >>` + sizes + `; sleep 0.1; done`
	out, err := exec.Command("tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_id} #{pane_pid}", slow).CombinedOutput()
	if err != nil {
		t.Skipf("no tmux: %s", out)
	}
	defer func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() }()
	pane, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	pid, _ := strconv.Atoi(number)
	client := tmux.New(socket)
	if !poll.Until(t.Context(), poll.Tick, time.Minute, func() bool {
		shown, err := client.Capture(t.Context(), pane)
		return err == nil && strings.HasPrefix(shown, "ready")
	}) {
		t.Fatal("the program does not read")
	}
	claude, _ := clis.New(nil).Get("claude")
	one := &sender{
		Agent: app.Agent{App: &app.App{Now: time.Now}, Session: &session.Session{}, Record: &session.Agent{}},
		cli:   claude, client: client, program: tmux.Program{Pane: pane, PID: pid}, rows: 40, text: strings.Repeat("0123456789", 1500),
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
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
