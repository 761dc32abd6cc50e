// Package notify notifies the user outside of the panes: by a command of the user, by the desktop,
// by a terminal, by a webhook. It knows nothing of agents.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"paw/config"
	"paw/config/display"
)

// Notice is one notification.
type Notice struct {
	Version int       `json:"version"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	CLI     string    `json:"cli"`
	Turn    int       `json:"turn"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
	Text    string    `json:"text,omitempty"`      // question, error or answer
	Repo    string    `json:"repo_path,omitempty"` // main worktree of the session's repository
	Words   string    `json:"-"`                   // text for people, such as "waits for you"
}

// Tell sends the notice in all configured ways. env is the environment of paw; terminals are the
// terminals that may show it.
func (n Notice) Tell(ctx context.Context, by config.Notify, env, terminals []string) error {
	var failed []error
	env = withoutAgent(env)
	if by.Command != "" {
		failed = append(failed, n.Command(ctx, by.Command, env))
	}
	if by.Desktop {
		failed = append(failed, n.Desktop(ctx, env))
	}
	for _, tty := range terminals {
		if by.OSC != "" {
			failed = append(failed, n.Terminal(tty, by.OSC))
		}
	}
	if by.Webhook != "" {
		failed = append(failed, n.Webhook(ctx, by.Webhook))
	}
	return errors.Join(failed...)
}

// withoutAgent removes the variables by which a program would take itself for a part of an agent.
func withoutAgent(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "PAW_LAUNCH" || name == "PAW_AGENT" || name == "PAW_SESSION" || name == "TMUX" || name == "TMUX_PANE"
	})
}

// patience is the time limit of one way of notifying.
const patience = 10 * time.Second

const webhookPatience = 2 * time.Second

// Title returns who it is about and what happened, safe for a terminal.
func (n Notice) Title() string {
	if n.Agent == "" {
		return printable(n.Session + " " + n.Words)
	}
	return printable(fmt.Sprintf("%s/%s %s", n.Session, n.Agent, n.Words))
}

// Body returns the text in one line.
func (n Notice) Body() string { return printable(n.Text) }

// printable returns a text in one line, safe for a terminal and cut to the length that
// notifications show.
func printable(text string) string {
	return display.Graphemes.Cut(display.Words(text), 200)
}

// Command runs a shell command with the notice as JSON on its standard input.
func (n Notice) Command(ctx context.Context, command string, env []string) error {
	input, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return run(ctx, env, append(input, '\n'), "sh", "-c", command)
}

// Desktop shows a desktop notification with the system's own program.
func (n Notice) Desktop(ctx context.Context, env []string) error {
	if runtime.GOOS == "darwin" {
		const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
		return run(ctx, env, nil, "osascript", "-e", script, n.Title(), n.Body())
	}
	return run(ctx, env, nil, "notify-send", "--app-name=paw", "--", n.Title(), n.Body())
}

// run runs a program from the PATH of env, without a terminal.
func run(ctx context.Context, env []string, input []byte, program string, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// sh looks the program up, in the PATH of env.
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", `exec "$@"`, "sh", program}, words...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", env, bytes.NewReader(input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if said := strings.TrimSpace(string(out)); err != nil && said != "" {
		return fmt.Errorf("%s: %w: %s", program, err, printable(said))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// Webhook posts names and state, but no text of the conversation.
func (n Notice) Webhook(ctx context.Context, url string) error {
	n.Text, n.Repo = "", ""
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, webhookPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("webhook: answered %s", answer.Status)
	}
	return nil
}

// Sequence returns the escape sequence with which a terminal shows the notice: 9 (iTerm2, Windows
// Terminal and others), 777 (urxvt, foot, ghostty) or 99 (kitty).
func (n Notice) Sequence(osc string) string {
	title, body := n.Title(), n.Body()
	plain := strings.NewReplacer(";", ",")
	switch osc {
	case "9":
		if body != "" {
			title += ": " + body
		}
		return "\x1b]9;" + title + "\x1b\\"
	case "777":
		return "\x1b]777;notify;" + plain.Replace(title) + ";" + plain.Replace(body) + "\x1b\\"
	case "99":
		return "\x1b]99;i=paw:d=0;" + title + "\x1b\\\x1b]99;i=paw:d=1:p=body;" + body + "\x1b\\"
	}
	return ""
}

// Terminal writes the sequence directly to a terminal, since tmux would not pass it on. It gives up
// if the terminal does not take it at once.
func (n Notice) Terminal(tty, osc string) error {
	f, err := os.OpenFile(tty, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = f.SetWriteDeadline(time.Now().Add(time.Second))
	_, err = f.WriteString(n.Sequence(osc))
	return err
}
