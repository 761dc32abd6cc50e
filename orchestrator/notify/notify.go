// Package notify tells the user outside of the panes of what an agent has come to: by a command of his, by a notification of
// the desktop or of his terminal, by a webhook. It knows nothing of agents.
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

// Notice is what is told.
type Notice struct {
	Version int       `json:"version"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	CLI     string    `json:"cli"`
	Turn    int       `json:"turn"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
	Text    string    `json:"text,omitempty"`      // the question, the error or the answer
	Repo    string    `json:"repo_path,omitempty"` // path of the repository
	Words   string    `json:"-"`                   // what people read of the event, such as "waits for you"
}

// Tell tells it in all ways that the user wants to be told by. env is that of paw, terminals are those that may show it.
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

// withoutAgent is an environment in which nothing takes itself for a part of an agent.
func withoutAgent(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "PAW_LAUNCH" || name == "PAW_AGENT" || name == "PAW_SESSION" || name == "TMUX" || name == "TMUX_PANE"
	})
}

// patience is how long one way of telling may take.
const patience = 10 * time.Second

// webhookPatience is how long a webhook may take.
const webhookPatience = 2 * time.Second

// Title and Body are the notice for people, without anything that acts on a terminal.
func (n Notice) Title() string {
	if n.Agent == "" {
		return printable(n.Session + " " + n.Words)
	}
	return printable(fmt.Sprintf("%s/%s %s", n.Session, n.Agent, n.Words))
}

// Body is the text in one line.
func (n Notice) Body() string { return printable(n.Text) }

// printable is a text in one line, cut to what a notification shows.
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

// Desktop shows a notification of the desktop, by the program that the system has for it.
func (n Notice) Desktop(ctx context.Context, env []string) error {
	if runtime.GOOS == "darwin" {
		const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
		return run(ctx, env, nil, "osascript", "-e", script, n.Title(), n.Body())
	}
	return run(ctx, env, nil, "notify-send", "--app-name=paw", "--", n.Title(), n.Body())
}

// run runs a program that is found on the PATH of env, without a terminal.
func run(ctx context.Context, env []string, input []byte, program string, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// The program is looked up by sh: the PATH is that of env.
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

// Webhook posts names and state, and no word of what was said.
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

// Sequence is the escape sequence that has a terminal show the notice: 9 (iTerm2, Windows Terminal and others), 777 (urxvt,
// foot, ghostty) or 99 (kitty).
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

// Terminal writes the sequence to a terminal, past tmux, which shows it to nobody. A terminal that does not take it at once
// is left alone.
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
