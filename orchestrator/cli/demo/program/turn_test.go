package program

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/cli/internal/plain"
)

func TestPlainPromptCommits(t *testing.T) {
	p := newPlace(t)
	prompt := "# " + strings.Repeat("é", 70) + "\nsecond line"
	code, out, errw := p.main("", "-p", prompt)
	if code != 0 {
		t.Fatal(errw)
	}
	expect(t, "NOTES.md", p.read("NOTES.md"), prompt+"\n")
	expect(t, "message", p.git("log", "-1", "--format=%B"), "# "+strings.Repeat("é", 58)+"\n\noutcome: success")
	expect(t, "author", p.git("log", "-1", "--format=%an <%ae> %cn <%ce>"),
		"demo <demo@localhost> demo <demo@localhost>")
	expect(t, "answer", out, "committed "+p.git("rev-parse", "--short", "HEAD")+" # "+strings.Repeat("é", 58)+"\n")

	p.main("", "-p", "again")
	expect(t, "NOTES.md", p.read("NOTES.md"), prompt+"\nagain\n")
	expect(t, "commits", p.git("rev-list", "--count", "HEAD"), "2")
	expect(t, "status", p.git("status", "--porcelain"), "")
}

func TestConfiguredAuthorStays(t *testing.T) {
	p := newPlace(t)
	p.git("config", "user.name", "Ada")
	p.main("", "-p", "one")
	expect(t, "with a name", p.git("log", "-1", "--format=%an <%ae>"), "Ada <demo@localhost>")
	p.git("config", "user.email", "ada@example.org")
	p.main("", "-p", "two")
	expect(t, "with both", p.git("log", "-1", "--format=%an <%ae>"), "Ada <ada@example.org>")
	p.env = append(p.env, "GIT_AUTHOR_NAME=Grace")
	p.main("", "-p", "three")
	expect(t, "from the environment", p.git("log", "-1", "--format=%an, %cn"), "Grace, Ada")
}

func TestGitVariablesOfACallerAreIgnored(t *testing.T) {
	p := newPlace(t)
	other := newPlace(t)
	p.env = append(p.env, "GIT_DIR="+other.repo+"/.git", "GIT_WORK_TREE="+other.repo, "GIT_INDEX_FILE=/nowhere")
	code, out, errw := p.main("", "-p", "do: run git rev-parse --show-toplevel\ndo: write a 1\ndo: commit mine")
	if code != 0 {
		t.Fatal(errw)
	}
	p.env = other.env
	expect(t, "commits", p.git("rev-list", "--count", "HEAD"), "1")
	if !strings.Contains(out, p.repo) {
		t.Errorf("a command sees another repository: %s", out)
	}
}

func TestSteps(t *testing.T) {
	p := newPlace(t)
	absolute := filepath.Join(p.root, "outside")
	code, out, errw := p.main("", "-p", strings.Join([]string{
		"do: write dir/a.txt one", "do: append dir/a.txt two  three", "do: write b.txt x", "do: write b.txt y",
		"do: write " + absolute + " z", "do: write gone 1", "do: remove gone", "do: run echo ran >c.txt; pwd; echo no >&2",
		"do: outcome failure", "do: commit feat: it", "do: sleep 0.01", "do: say all done", "do: append b.txt z",
		"do: commit second",
	}, "\n"))
	if code != 0 {
		t.Fatal(errw)
	}
	expect(t, "a.txt", p.read("dir/a.txt"), "one\ntwo  three\n")
	expect(t, "c.txt", p.read("c.txt"), "ran\n")
	expect(t, "files", p.git("ls-files"), "b.txt\nc.txt\ndir/a.txt")
	expect(t, "messages", p.git("log", "--reverse", "--format=%B"), "feat: it\n\noutcome: failure\n\nsecond")
	if _, err := os.Stat(absolute); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out, "echo no >&2\n"+p.repo+"\nno\n") || !strings.Contains(out, "\nall done\n") {
		t.Errorf("answer: %s", out)
	}
}

func TestFailingTurns(t *testing.T) {
	for prompt, want := range map[string]string{
		"do: fail API Error: 529 overloaded": "API Error: 529 overloaded",
		"do: say hi\ndo: dance":              "do: dance: unknown step",
		"do: remove nothing":                 "no such file or directory",
		"do: run exit 3":                     "run exit 3: exit status 3",
		"do: commit nothing":                 "nothing to commit",
	} {
		p := newPlace(t)
		code, out, errw := p.main("", "--session-id", "a", "-p", prompt)
		expect(t, prompt+": exit code", code, 1)
		if !strings.HasPrefix(errw, "demo: error: ") || !strings.Contains(errw, want) {
			t.Errorf("%s: %q", prompt, errw)
		}
		expect(t, prompt+": events", p.events("a"), "start turn_start error exit")
		if strings.Contains(out, "hi") {
			t.Errorf("%s: a step was done before the error was seen", prompt)
		}
	}
}

func TestExitStep(t *testing.T) {
	for _, code := range []int{0, 7} {
		p := newPlace(t)
		prompt := map[int]string{0: "do: exit 0\ndo: write a 1", 7: "do: exit 7\ndo: write a 1"}[code]
		got, _, errw := p.main("", "--session-id", "a", "-p", prompt)
		expect(t, "exit code", got, code)
		expect(t, "errors", errw, "")
		expect(t, "events", p.events("a"), "start turn_start exit")
		expect(t, "recorded code", *p.entries("a")[3].Code, code)
		expect(t, "files", p.git("status", "--porcelain"), "")
	}
}

func TestHeadlessRefusesQuestions(t *testing.T) {
	p := newPlace(t)
	code, out, _ := p.main("", "--session-id", "a", "-p", "do: ask write a file?\ndo: write a 1")
	expect(t, "exit code", code, 0)
	expect(t, "answer", out, "refused: write a file?\n")
	expect(t, "events", p.events("a"), "start turn_start waiting answered turn_end exit")
	expect(t, "files", p.git("status", "--porcelain"), "")
}

func TestBackgroundCommandDoesNotHoldTheTurn(t *testing.T) {
	p := newPlace(t)
	code, out, errw := p.main("", "-p", "do: run sleep 60 & echo $!\ndo: say on")
	if code != 0 || !strings.HasSuffix(out, "\non\n") {
		t.Fatalf("exit %d, %q, %q", code, out, errw)
	}
	p.exec("kill", strings.Split(out, "\n")[1])
}

// process starts the demo CLI as a child of the test.
func (p *place) process(args ...string) *exec.Cmd {
	p.t.Helper()
	binary, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	p.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.repo, append(slices.Clone(p.env), "DEMO_AGENT=1"), time.Second
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return cmd
}

func TestHeadlessSignals(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		code   int
		events string
	}{
		{syscall.SIGINT, 130, "start turn_start interrupted exit"},
		{syscall.SIGTERM, 143, "start turn_start exit"},
		{syscall.SIGHUP, 129, "start turn_start exit"},
	} {
		p := newPlace(t)
		cmd := p.process("--session-id", "a", "-p", "do: run echo $$ >pid; trap '' TERM; sleep 100\ndo: write late 1")
		var child string
		waitFor(t, "the command", func() bool {
			content, _ := os.ReadFile(filepath.Join(p.repo, "pid"))
			child = strings.TrimSpace(string(content))
			return bytes.HasSuffix(content, []byte("\n"))
		})
		if err := cmd.Process.Signal(test.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		expect(t, test.signal.String()+": exit code", cmd.ProcessState.ExitCode(), test.code)
		expect(t, test.signal.String()+": events", p.events("a"), test.events)
		waitFor(t, "the end of the command", func() bool { return !running(child) })
		expect(t, "files", p.git("status", "--porcelain"), "?? pid")
	}
}

// running says whether there is such a process that is not only waiting to be reaped.
func running(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(string(out), "Z")
}

func TestReport(t *testing.T) {
	p := newPlace(t)
	t.Chdir(p.repo)
	prompt := "do: ask sure?\ndo: say yes"
	o, err := parseOptions([]string{"--session-id", "a", "-p", prompt})
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAgent(o, p.env)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	a.record.Report = func(e plain.Entry) {
		if got := p.entries("a"); got[len(got)-1].Event != e.Event {
			t.Errorf("%s is reported before it is recorded", e.Event)
		}
		line := e.Event
		for _, field := range []string{e.Prompt, e.Question, e.Answer, e.Error} {
			if field != "" {
				line += " [" + field + "]"
			}
		}
		heard = append(heard, line)
	}
	var out bytes.Buffer
	code := a.run(o, nil, &out, &out)
	expect(t, "exit code", code, 0)
	want := []string{"start", "turn_start [" + prompt + "]", "waiting [sure?]", "answered [sure?] [n]", "turn_end [refused: sure?]", "exit"}
	if !slices.Equal(heard, want) {
		t.Errorf("got  %q\nwant %q", heard, want)
	}
}
