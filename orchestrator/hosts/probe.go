package hosts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Found is the result of Probe on a machine.
type Found struct {
	Home   string
	System string // output of uname -sm
	Git    string // version, "" for none
	Tmux   string
	Paws   []string // absolute paths of programs called paw, the one on PATH first, installed copies last, newest first
	Top    string   // top level of the checkout asked for, "" for none
	Name   string   // git's user.name
	Email  string
}

// probe is a script for sh: the login shell, whichever it is, only runs the word "sh".
const probe = `printf '%s\n' "$marker"
say() { printf '%s=%s\n' "$1" "$2"; }
say home "$HOME"
say system "$(uname -sm)"
say git "$(git --version 2>/dev/null)"
say tmux "$(tmux -V 2>/dev/null)"
say paw "$(command -v paw 2>/dev/null)"
login=$("${SHELL:-/bin/sh}" -ilc 'command -v paw' </dev/null 2>/dev/null | tail -n 1)
case $login in /*) say paw "$login" ;; esac
for p in "$HOME"/.local/bin/paw "$HOME"/go/bin/paw /usr/local/bin/paw; do
	[ -x "$p" ] && say paw "$p"
done
ls -t "$HOME"/.local/share/paw/bin 2>/dev/null | while read -r p; do
	case $p in paw-*) say paw "$HOME/.local/share/paw/bin/$p" ;; esac
done
say name "$(git config --get user.name 2>/dev/null)"
say email "$(git config --get user.email 2>/dev/null)"
[ -n "$repo" ] && say top "$(cd "$repo" 2>/dev/null && git rev-parse --show-toplevel 2>/dev/null)"
exit 0
`

// Probe finds out what is on a machine, and whether a path there is in a checkout. With mayAsk, ssh
// may ask on the terminal for a password or whether to trust a key.
func (c Client) Probe(ctx context.Context, h Host, repo string, mayAsk bool) (Found, error) {
	options := append([]string{}, alone...)
	if mayAsk {
		options = append([]string{"-o", "BatchMode=no"}, options...) // the first value of an option is used (ssh_config(5))
	}
	options = append(options, c.overMaster(h)...)
	marker := NewRequest("").Marker
	var out, said bytes.Buffer
	answer := &behindMarker{marker: marker, to: &bounded{to: &out, left: longestComplaint}}
	cmd := exec.CommandContext(ctx, c.Path, append(options, "-T", "--", h.SSH, "sh")...)
	cmd.Env = c.Env
	cmd.Stdin = strings.NewReader("marker=" + marker + "\nrepo=" + quoted(repo) + "\n" + probe)
	cmd.Stdout, cmd.Stderr = answer, &limited{to: &said, left: longestComplaint}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Found{}, &NotReached{Host: h.Name, Why: "no answer in time"}
	case err != nil && !answer.found:
		if errors.As(err, &exit) {
			return Found{}, &NotReached{Host: h.Name, Why: lastLine(said.String())}
		}
		return Found{}, &NotReached{Host: h.Name, Why: err.Error()}
	case !answer.found:
		return Found{}, &NotReached{Host: h.Name, Why: "its login shell runs no sh (" + lastLine(said.String()) + ")"}
	}
	return found(out.String()), nil
}

// quoted quotes a text as one word of sh.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// found parses the output of probe.
func found(text string) (f Found) {
	lines := bufio.NewScanner(strings.NewReader(text))
	seen := map[string]bool{}
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), "=")
		switch key {
		case "home":
			f.Home = value
		case "system":
			f.System = value
		case "git":
			f.Git = strings.TrimPrefix(value, "git version ")
		case "tmux":
			f.Tmux = strings.TrimPrefix(value, "tmux ")
		case "top":
			f.Top = value
		case "name":
			f.Name = value
		case "email":
			f.Email = value
		case "paw":
			if strings.HasPrefix(value, "/") && !seen[value] {
				seen[value] = true
				f.Paws = append(f.Paws, value)
			}
		}
	}
	return f
}
