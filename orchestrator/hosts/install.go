package hosts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// installedIn is the folder, below the home folder, into which paw is installed.
const installedIn = ".local/share/paw/bin"

// SameSystem reports whether a program of this machine runs on a machine with that output of uname
// -sm.
func SameSystem(uname string) bool { return uname == unameOf(runtime.GOOS, runtime.GOARCH) }

// unameOf returns the output of uname -sm on a system that Go builds for, "" for systems without a
// build of paw.
func unameOf(goos, goarch string) string {
	return map[string]string{
		"linux/amd64": "Linux x86_64", "linux/arm64": "Linux aarch64", "darwin/amd64": "Darwin x86_64", "darwin/arm64": "Darwin arm64",
	}[goos+"/"+goarch]
}

// Unreleased is the version of a paw that was built from no commit; one that was built from a changed checkout has a
// version that ends with Modified.
const (
	Unreleased = "0.0.0-dev"
	Modified   = "-dirty"
)

// Install copies a program from this machine to a host, as paw-VERSION below the home folder, and
// returns its path there. An existing program of that name is never replaced, since hooks of agents
// call it. The copy gets its name after its SHA-256 was compared and it has run `version`.
func (c Client) Install(ctx context.Context, h Host, f Found, program, version string) (string, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	name := "paw-" + safe(version)
	if version == Unreleased || strings.HasSuffix(version, Modified) {
		name += "-" + hex.EncodeToString(sum[:4]) // such builds differ although their version is equal
	}
	script := fmt.Sprintf(`set -e; umask 077; mkdir -p %[1]s; cd %[1]s; t=.$$.%[2]s; trap "rm -f $t" EXIT; cat > $t; `+
		`s=$( (sha256sum $t 2>/dev/null || shasum -a 256 $t) | cut -c 1-64); [ "$s" = %[3]s ] || { echo "the sum is wrong" >&2; exit 1; }; `+
		`chmod 755 $t; ./$t version >/dev/null; ln $t %[2]s 2>/dev/null || [ -x %[2]s ]`, installedIn, name, hex.EncodeToString(sum[:]))
	cmd := c.command(ctx, h, append([]string{"-T"}, c.overMaster(h)...), "sh -c "+quoted(script))
	code, said, _, err := call(ctx, h, cmd, "", bytes.NewReader(content), io.Discard, nil)
	switch {
	case err != nil:
		return "", err
	case code != 0:
		return "", &Refusal{Host: h.Name, Code: 1, Said: "paw cannot be installed: " + lastLine(said)}
	}
	return f.Home + "/" + installedIn + "/" + name, nil
}

// safe replaces characters of a version that are not safe in file names and shell words.
func safe(version string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, version)
}

// ProgramIn returns the paw for a system in a folder of unpacked archives of make dist, "" for
// none.
func ProgramIn(dist, uname string) string {
	for _, target := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"} {
		goos, goarch, _ := strings.Cut(target, "/")
		if dist == "" || unameOf(goos, goarch) != uname {
			continue
		}
		if found, err := filepath.Glob(filepath.Join(dist, "paw_*_"+goos+"_"+goarch, "bin", "paw")); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

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
	options := append([]string{"-T"}, c.overMaster(h)...)
	if mayAsk {
		options = append(options, "-o", "BatchMode=no")
	}
	marker := NewRequest("").Marker
	script := strings.NewReader("marker=" + marker + "\nrepo=" + quoted(repo) + "\n" + probe)
	var out bytes.Buffer
	_, said, answered, err := call(ctx, h, c.command(ctx, h, options, "sh"), marker, script, &bounded{to: &out, left: longestComplaint}, nil)
	switch {
	case ctx.Err() != nil:
		return Found{}, &NotReached{Host: h.Name, Why: "no answer in time"}
	case err != nil:
		return Found{}, err
	case !answered:
		return Found{}, &NotReached{Host: h.Name, Why: "its login shell runs no sh (" + lastLine(said) + ")"}
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

// loginPatience bounds how long a login shell may take to print its environment.
const loginPatience = 10 * time.Second

// LoginEnvironment returns the environment of a login shell of the user, with PATH and variables
// that are set only for logins. VS Code gets it in the same way.
func LoginEnvironment(ctx context.Context, shell string, env []string) ([]string, error) {
	if shell == "" {
		shell = "/bin/sh"
	}
	ctx, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	marker := NewRequest("").Marker
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, shell, "-ilc", "printf '%s\\n' "+marker+"; env -0; printf '%s\\n' "+marker)
	cmd.Env, cmd.Stdout = env, &behindMarker{marker: marker, to: &bounded{to: &out, left: longestGreeting}}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	text, _, _ := strings.Cut(out.String(), marker+"\n")
	return strings.FieldsFunc(text, func(r rune) bool { return r == 0 }), nil
}

// HandOver encodes variables as the first line of a standard input, so that they are in no argument
// and no file.
func HandOver(names []string, getenv func(string) string) string {
	values := map[string]string{}
	for _, name := range names {
		if value := getenv(name); value != "" {
			values[name] = value
		}
	}
	line, err := json.Marshal(values)
	if err != nil {
		panic("hosts: strings cannot fail to encode: " + err.Error())
	}
	return string(line) + "\n"
}

// TakeOver decodes the line that HandOver wrote.
func TakeOver(line string) (map[string]string, error) {
	values := map[string]string{}
	err := json.Unmarshal([]byte(line), &values)
	return values, err
}
