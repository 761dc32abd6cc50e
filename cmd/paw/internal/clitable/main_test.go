package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// events are those of go test -json, written as ACTION TEST [OUTPUT].
func events(t *testing.T, lines ...string) string {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		words := strings.SplitN(line, " ", 3)
		output := ""
		if len(words) == 3 {
			output = fmt.Sprintf(`,"Output":%q`, words[2]+"\n")
		}
		name := ""
		if words[1] != "-" {
			name = fmt.Sprintf(`,"Test":%q`, words[1])
		}
		fmt.Fprintf(&text, `{"Package":"p","Action":%q%s%s,"Elapsed":61.5}`+"\n", words[0], name, output)
	}
	return text.String()
}

// aSet writes the folder of a set.
func aSet(t *testing.T, root, name, facts, results string) string {
	t.Helper()
	dir := filepath.Join(root, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"facts": facts, "results.json": results} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const facts = `node 22.23.3
claude 2.1.330
codex 0.169.0
opencode 1.18.33
gemini 0.61.0
qwen 0.24.4
copilot 1.0.102
pi 1.6.0
kimi 2.1.0
load 0.50 to 3.25
seconds 733
`

var green = []string{
	"run TestCLIs", "run TestCLIs/claude", "run TestCLIs/claude/commit", "pass TestCLIs/claude/commit",
	"pass TestCLIs/claude", "run TestCLIs/gemini", "skip TestCLIs/gemini", "pass TestCLIs",
	"run TestCLIsFamily", "run TestCLIsFamily/claude_and_its_child_codex",
	"pass TestCLIsFamily/claude_and_its_child_codex", "pass TestCLIsFamily", "pass -",
}

func TestClosingGreen(t *testing.T) {
	root := t.TempDir()
	pinned := aSet(t, root, "pinned", facts, events(t, green...))
	newest := aSet(t, root, "newest", strings.ReplaceAll(strings.Replace(facts, "2.1.330", "2.1.331", 1), "733", "61"), events(t, green...))
	same := aSet(t, root, "again", "same pinned\n", "")
	log := filepath.Join(root, "failures.log")
	var out strings.Builder
	if err := run([]string{"close", log, pinned, newest, same}, nil, &out); err != nil {
		t.Errorf("%v", err)
	}
	want := `
pinned
scenario                                claude  codex   opencode  qwen  copilot  pi  gemini  kimi
CLIs: commit                            ok 62s  -       -         -     -        -   -       -
CLIs                                    -       -       -         -     -        -   skip    -
CLIsFamily: claude and its child codex  ok 62s  ok 62s  -         -     -        -   -       -

newest
scenario                                claude  codex   opencode  qwen  copilot  pi  gemini  kimi
CLIs: commit                            ok 62s  -       -         -     -        -   -       -
CLIs                                    -       -       -         -     -        -   skip    -
CLIsFamily: claude and its child codex  ok 62s  ok 62s  -         -     -        -   -       -

again: same as pinned

version   pinned        newest          again
node      22.23.3       same as pinned  same as pinned
claude    2.1.330       2.1.331         same as pinned
codex     0.169.0       same as pinned  same as pinned
opencode  1.18.33       same as pinned  same as pinned
qwen      0.24.4        same as pinned  same as pinned
copilot   1.0.102       same as pinned  same as pinned
pi        1.6.0         same as pinned  same as pinned
gemini    0.61.0        same as pinned  same as pinned
kimi      2.1.0         same as pinned  same as pinned
load      0.50 to 3.25  0.50 to 3.25    same as pinned
duration  12m13s        1m1s            same as pinned
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestClosingFailures(t *testing.T) {
	root := t.TempDir()
	dir := aSet(t, root, "pinned", facts, events(t,
		"run TestCLIs", "run TestCLIs/claude",
		"run TestCLIs/claude/commit", "output TestCLIs/claude/commit === RUN x",
		"output TestCLIs/claude/commit clis_test.go:5: not "+strings.Repeat("x", 300), "fail TestCLIs/claude/commit",
		"output TestCLIs/claude what comes after was not tried", "fail TestCLIs/claude",
		"run TestCLIs/codex", "run TestCLIs/codex/commit", "pass TestCLIs/codex/commit",
		"run TestCLIs/codex/stop", "pass TestCLIs/codex/stop", "pass TestCLIs/codex",
		"run TestCLIs/qwen", "run TestCLIs/qwen/commit", "output TestCLIs/qwen/commit panic: test timed out",
		"fail TestCLIs", "run TestOther", "fail TestOther", "fail -"))
	log := filepath.Join(root, "failures.log")
	var out strings.Builder
	if err := run([]string{"close", log, dir}, nil, &out); !errors.Is(err, errFailed) {
		t.Errorf("%v", err)
	}
	got, _, _ := strings.Cut(out.String(), "\nversion ")
	want := `
pinned
scenario      claude    codex   opencode  qwen     copilot  pi  gemini  kimi
CLIs: commit  FAIL 62s  ok 62s  -         FAIL     -        -   -       -
CLIs: stop    not run   ok 62s  -         not run  -        -   -       -
FAIL TestOther

FAIL pinned TestCLIs/claude/commit (62 s)
    clis_test.go:5: not ` + strings.Repeat("x", 139) + `…

FAIL pinned TestCLIs/qwen/commit (0 s)
    panic: test timed out

FAIL pinned TestOther (62 s)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(out.String(), "\nthe output of all failed tests: "+log+"\n") {
		t.Errorf("the log is not named:\n%s", out.String())
	}
	kept, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(kept), "##### pinned: TestCLIs/claude/commit\n=== RUN x\nclis_test.go:5: not "+strings.Repeat("x", 300)+"\n") {
		t.Errorf("%v\n%s", err, kept)
	}
}

// TestClosingCut: where the tests were ended before all had begun, the table names what did not run.
func TestClosingCut(t *testing.T) {
	root := t.TempDir()
	dir := aSet(t, root, "pinned", facts, events(t,
		"run TestCLIs", "run TestCLIs/claude", "run TestCLIs/claude/commit", "pass TestCLIs/claude/commit", "pass TestCLIs/claude", "pass TestCLIs"))
	for file, names := range map[string]string{
		"plan": "TestCLIs/claude\nTestCLIs/codex\nTestCLIs/qwen\nTestCLIsUsage/claude\nTestCLIsUsage/qwen\nTestCLIsFamily\n",
		"done": "TestCLIs/codex\n", // has no such scenario
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(names), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run([]string{"close", filepath.Join(root, "log"), dir}, nil, &out); !errors.Is(err, errFailed) {
		t.Errorf("%v", err)
	}
	got, _, _ := strings.Cut(out.String(), "\nversion ")
	want := `
pinned
scenario      claude   codex  opencode  qwen     copilot  pi  gemini  kimi
CLIs: commit  ok 62s   -      -         not run  -        -   -       -
CLIsUsage     not run  -      -         not run  -        -   -       -

FAIL pinned: never began: TestCLIs/qwen, TestCLIsUsage/claude, TestCLIsUsage/qwen, TestCLIsFamily
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestClosingNothing: a set of which nothing ran is not green, nor is one that was not built.
func TestClosingNothing(t *testing.T) {
	root := t.TempDir()
	for name, results := range map[string]string{
		"none":   events(t, "pass -"),
		"build":  events(t, "output - x.go:1: undefined: y", "fail -"),
		"absent": "",
	} {
		var out strings.Builder
		if err := run([]string{"close", filepath.Join(root, "log"), aSet(t, root, name, facts, results)}, nil, &out); !errors.Is(err, errFailed) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		if !strings.Contains(out.String(), "FAIL ") {
			t.Errorf("%s: nothing says so:\n%s", name, out.String())
		}
	}
	if err := run([]string{"close", filepath.Join(root, "log"), filepath.Join(root, "nowhere")}, nil, &strings.Builder{}); err == nil || errors.Is(err, errFailed) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestWatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	first := events(t, "run TestA", "pass TestA", "pass -")
	second := "# p/cmd\nx.go:1: undefined: y\n" + events(t, "run TestB/claude", "fail TestB/claude", "fail -")
	var out strings.Builder
	if err := run([]string{"watch", file}, strings.NewReader(first), &out); err != nil {
		t.Errorf("%v", err)
	}
	if err := run([]string{"watch", file}, strings.NewReader(second), &out); !errors.Is(err, errFailed) {
		t.Errorf("%v", err)
	}
	want := "ok     61.5s  TestA\n# p/cmd\nx.go:1: undefined: y\nFAIL   61.5s  TestB/claude\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != first+second {
		t.Errorf("%v\n%s", err, kept)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"watch"}, {"close", "log"}, {"open", "a", "b"}} {
		if err := run(args, nil, &strings.Builder{}); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
