//go:build clis

package fakemodel

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/tmux"
)

var takeInto = flag.String("take-into", "", "write the screens of the CLIs into this `folder`, such as ../testdata/screens")

// screens is where the scenes lie, and the screens that were taken.
const screens = "../testdata/screens"

// TestScreens plays the scenes of each CLI (../testdata/screens/CLI.scenes) with the program that is installed, and
// compares what paw recognizes on its screens with what the scenes say. With -take-into it writes the screens for
// TestScreensOfRealCLIs; those of versions that are not here stay.
func TestScreens(t *testing.T) {
	for _, cli := range append([]string{"demo"}, CLIs...) {
		t.Run(cli, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(screens, cli+".scenes"))
			if err != nil {
				t.Fatal(err)
			}
			version := versionHere(t, cli)
			for _, session := range strings.Split("\n"+string(text), "\nsession ")[1:] {
				name, lines, _ := strings.Cut(session, "\n")
				t.Run(name, func(t *testing.T) {
					t.Parallel() // most of the time they wait
					s := &stage{version: version}
					if cli == "demo" {
						s.place = demoPlace(t)
					} else {
						s.place = newPlace(t, cli)
					}
					s.play(lines)
				})
			}
		})
	}
}

// stage is where one session of a CLI is played.
type stage struct {
	*place
	version string
	home    string
	argv    []string
	socket  string
	pane    string
	client  *tmux.Client
}

// demoPlace is a place for the CLI that is in paw itself, which is built for that.
func demoPlace(t *testing.T) *place {
	dir := t.TempDir()
	p := &place{
		t: t, cli: "demo", executable: filepath.Join(dir, "paw"), repo: filepath.Join(dir, "repo"),
		env: append(os.Environ(), "TERM=xterm-256color", "XDG_STATE_HOME="+filepath.Join(dir, "state")),
	}
	if err := os.Mkdir(p.repo, 0o700); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command("go", "-C", module, "build", "-o", p.executable, "./cmd/paw"); err != nil {
		t.Fatalf("%v: %s", err, p.output)
	}
	p.git("init", "--quiet")
	return p
}

// versionHere is the version of the CLI that is installed.
func versionHere(t *testing.T, name string) string {
	t.Helper()
	c, _ := clis.New(nil).Get(name)
	executable, err := cli.LookPath(c.Program(), os.Environ())
	if err != nil {
		t.Skip(err)
	}
	version, err := c.Version(t.Context(), executable, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(version, " ", "-")
}

// play does one line after the other. Before `open WxH` come the lines that prepare the CLI's home and command.
func (s *stage) play(lines string) {
	s.argv = []string{s.executable}
	switch s.cli {
	case "demo":
		s.argv = append(s.argv, "demo-agent")
	case "codex": // an option of this kind keeps it from starting a daemon
		s.argv = append(s.argv, "-c", "check_for_update_on_startup=false")
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		if s.pane == "" {
			s.prepare(verb, rest)
		} else {
			s.act(verb, rest)
		}
	}
}

// prepare does a line that comes before the CLI runs.
func (s *stage) prepare(verb, rest string) {
	s.home = filepath.Join(filepath.Dir(s.repo), "home")
	switch verb {
	case "versions": // the scene is for these alone
		if !regexp.MustCompile(rest).MatchString(s.version) {
			s.t.Skip(s.version)
		}
	case "env":
		s.env = append(s.env, rest)
	case "unset":
		s.env = slices.DeleteFunc(s.env, func(kv string) bool { return strings.HasPrefix(kv, rest+"=") })
	case "home":
		name, content, _ := strings.Cut(rest, " ")
		content = s.filled(strings.ReplaceAll(content, `\n`, "\n"))
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.home, name)), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.home, name), []byte(content), 0o600); err != nil {
			s.t.Fatal(err)
		}
	case "edit": // FILE OLD -> NEW
		name, change, _ := strings.Cut(rest, " ")
		before, after, _ := strings.Cut(change, " ->")
		after = strings.TrimPrefix(after, " ")
		before, after = s.filled(before), s.filled(strings.ReplaceAll(after, `\n`, "\n"))
		content, err := os.ReadFile(filepath.Join(s.home, name))
		if err != nil || !bytes.Contains(content, []byte(before)) {
			s.t.Fatalf("%s has no %s: %v\n%s", name, before, err, content)
		}
		if err := os.WriteFile(filepath.Join(s.home, name), bytes.ReplaceAll(content, []byte(before), []byte(after)), 0o600); err != nil {
			s.t.Fatal(err)
		}
	case "arg":
		s.argv = append(s.argv, rest)
	case "open":
		s.open(rest)
	default:
		s.t.Fatalf("unknown line: %s %s", verb, rest)
	}
}

// filled is a text of a scene with what only this run knows.
func (s *stage) filled(text string) string {
	return strings.ReplaceAll(text, "{repo}", s.repo)
}

// open starts the CLI in a terminal of a size, such as 100x30.
func (s *stage) open(size string) {
	dir, err := os.MkdirTemp("", "paw") // short, as the path of a socket must be
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	width, height, _ := strings.Cut(size, "x")
	s.socket = filepath.Join(dir, "tmux")
	s.tmux(append([]string{
		"-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-s", "cli", "-x", width, "-y", height, "-c", s.repo,
	}, s.argv...)...)
	s.t.Cleanup(s.end)
	s.client = tmux.New(s.socket)
	s.pane = strings.TrimSpace(s.tmux("display-message", "-p", "-t", "cli", "#{pane_id}"))
}

// end ends the server and the CLI, which may need a moment for it.
func (s *stage) end() {
	leader, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "-t", "cli", "#{pane_pid}")))
	if err != nil {
		s.t.Fatal(err)
	}
	s.tmux("kill-server")
	for end := time.Now().Add(10 * time.Second); syscall.Kill(-leader, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			_ = syscall.Kill(-leader, syscall.SIGKILL)
			return
		}
	}
}

func (s *stage) tmux(args ...string) string {
	s.t.Helper()
	if err := s.command("tmux", append([]string{"-S", s.socket}, args...)...); err != nil {
		s.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, s.output)
	}
	return s.output
}

// program is the CLI, as one that can be typed to.
func (s *stage) program() tmux.Program {
	s.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "-t", s.pane, "#{pane_pid}")))
	if err != nil {
		s.t.Fatal(err)
	}
	return tmux.Program{Pane: s.pane, PID: pid}
}

// act does a line with the CLI that runs.
func (s *stage) act(verb, rest string) {
	ctx := s.t.Context()
	must := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	switch verb {
	case "only": // for versions that match: the line behind
		version, line, _ := strings.Cut(rest, " ")
		if verb, rest, _ = strings.Cut(line, " "); regexp.MustCompile(version).MatchString(s.version) {
			s.act(verb, rest)
		}
	case "wait", "gone":
		s.waitFor(rest, verb == "wait")
	case "keys":
		for _, key := range strings.Fields(rest) {
			must(s.client.Type(ctx, s.program(), "", key))
			time.Sleep(150 * time.Millisecond)
		}
	case "type":
		s.tmux("send-keys", "-t", s.pane, "-l", "--", rest)
		time.Sleep(300 * time.Millisecond)
	case "paste":
		text, err := strconv.Unquote(rest)
		must(err)
		must(s.client.Type(ctx, s.program(), text))
		time.Sleep(600 * time.Millisecond)
	case "size":
		width, height, _ := strings.Cut(rest, "x")
		s.tmux("resize-window", "-t", "cli", "-x", width, "-y", height)
		time.Sleep(600 * time.Millisecond)
	case "focus", "unfocus": // what a terminal tells when another pane is looked at
		last := map[string]string{"focus": "49", "unfocus": "4f"}[verb]
		s.tmux("send-keys", "-t", s.pane, "-H", "1b", "5b", last)
		time.Sleep(600 * time.Millisecond)
	case "pause": // for what no screen shows
		d, err := time.ParseDuration(rest)
		must(err)
		time.Sleep(d)
	case "shot":
		s.shot(rest)
	default:
		s.t.Fatalf("unknown line: %s %s", verb, rest)
	}
}

func (s *stage) look() cli.Screenshot {
	s.t.Helper()
	shot, err := s.client.Screenshot(s.t.Context(), s.pane)
	if err != nil {
		s.t.Fatal(err)
	}
	return cli.Screenshot(shot)
}

// waitFor waits until the screen shows the expression, or does not.
func (s *stage) waitFor(expression string, shows bool) {
	s.t.Helper()
	found := regexp.MustCompile(expression)
	var text string
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		out, err := s.client.Capture(s.t.Context(), s.pane)
		if err != nil {
			s.t.Fatal(err)
		}
		if text = out; found.MatchString(text) == shows {
			return
		}
	}
	s.t.Fatalf("%s: never on the screen (%v):\n%s", expression, shows, text)
}

// settled is the screen once it stands still; one of a CLI that works never does.
func (s *stage) settled() cli.Screenshot {
	s.t.Helper()
	shot, since := s.look(), time.Now()
	for end := time.Now().Add(3 * time.Second); time.Since(since) < 500*time.Millisecond && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		if next := s.look(); next != shot {
			shot, since = next, time.Now()
		}
	}
	return shot
}

// shot keeps the screen as `NAME`, followed by what is to be recognized on it: `empty`, `filled "DRAFT"` or
// `dialog "WORDS"`, or nothing.
func (s *stage) shot(rest string) {
	s.t.Helper()
	name, expected, _ := strings.Cut(rest, " ")
	expected = s.filled(expected)
	shot := s.settled()
	if *takeInto != "" {
		dir := filepath.Join(*takeInto, s.cli)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
		content := fmt.Sprintf("%s\n%dx%d cursor %d,%d %v\n%s", s.anonymous(expected), shot.Width, shot.Height, shot.CursorX, shot.CursorY, shot.CursorShown, s.anonymous(shot.Text))
		if err := os.WriteFile(filepath.Join(dir, s.version+"-"+name+".txt"), []byte(content), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	cli, _ := clis.New(nil).Get(s.cli)
	if got := cli.Screen(shot).String(); got != strings.TrimSpace(expected) {
		s.t.Errorf("%s: %s, want %s\n%s", name, got, expected, shot.Text)
	}
}

// anonymous is a screen without the name of the folder of this run, in the same width.
func (s *stage) anonymous(text string) string {
	root := filepath.Dir(s.repo)
	name := filepath.Base(root)
	return strings.ReplaceAll(text, name, strings.Repeat("x", len(name)))
}
