package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

// piFolder is the folder of pi's conversations of the worktree, below HOME.
func piFolder(l lab) string {
	return filepath.Join(".pi", "agent", "sessions", "--"+strings.ReplaceAll(strings.TrimPrefix(l.worktree, "/"), "/", "-")+"--")
}

func piFile(l lab, id string) string {
	return filepath.Join(piFolder(l), "2026-11-28T11-21-51-239Z_"+id+".jsonl")
}

// TestPiConversation: the folder of the worktree, or the one that a variable or a file of settings names.
func TestPiConversation(t *testing.T) {
	for _, c := range []struct {
		name string
		put  func(l lab) (file string, env []string)
	}{
		{"usual", func(l lab) (string, []string) { return piFile(l, qwenSample), nil }},
		{"variable", func(l lab) (string, []string) {
			return "mine/x_" + qwenSample + ".jsonl", []string{"PI_CODING_AGENT_SESSION_DIR=" + filepath.Join(l.home, "mine")}
		}},
		{"agent folder", func(l lab) (string, []string) {
			return strings.Replace(piFile(l, qwenSample), ".pi/agent", "other", 1), []string{"PI_CODING_AGENT_DIR=" + filepath.Join(l.home, "other")}
		}},
		{"settings", func(l lab) (string, []string) {
			l.put(".pi/agent/settings.json", `{"sessionDir":"~/told"}`)
			return "told/x_" + qwenSample + ".jsonl", nil
		}},
		{"settings of the worktree", func(l lab) (string, []string) {
			l.put(".pi/agent/settings.json", `{"sessionDir":"~/told"}`)
			below, err := filepath.Rel(l.home, l.worktree)
			if err != nil {
				t.Fatal(err)
			}
			l.put(filepath.Join(below, ".pi/settings.json"), `{"sessionDir":".pi/talks"}`)
			return filepath.Join(below, ".pi/talks/x_"+qwenSample+".jsonl"), nil
		}},
	} {
		l := newLab(t)
		file, env := c.put(l)
		s := l.with(qwenSample, env...)
		if got := conversation(t, "pi", s); got.Found || got.NewID || got.Reason == "" {
			t.Errorf("%s: without a file: %+v", c.name, got)
		}
		path := l.put(file, l.sample("history/pi.jsonl"))
		want := cli.Conversation{Found: true, Resumable: true, Transcript: path}
		if diff := cmp.Diff(want, conversation(t, "pi", s)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestPiResumes: a conversation of the worktree by its id, one of another folder in a copy.
func TestPiResumes(t *testing.T) {
	for _, c := range []struct {
		name, file, cwd string
		more            func(path string) []string
	}{
		{"of the worktree", "own", "own", func(string) []string { return nil }},
		{"none", "", "", func(string) []string { return nil }},
		{"of another folder", ".pi/agent/sessions/--moved--/x_" + qwenSample + ".jsonl", "/moved", func(path string) []string { return []string{"--fork", path} }},
	} {
		l := newLab(t)
		path := ""
		if c.file == "own" {
			c.file, c.cwd = piFile(l, qwenSample), l.worktree
		}
		if c.file != "" {
			path = l.put(c.file, l.sample("history/pi.jsonl", "/home/u/w", c.cwd))
		}
		command, err := get(t, "pi").Resume(l.with(qwenSample))
		if err != nil {
			t.Fatal(err)
		}
		want := append([]string{"/nowhere/cli", "--session-id", qwenSample}, c.more(path)...)
		if diff := cmp.Diff(want, command.Argv); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestPiHistory(t *testing.T) {
	checkHistory(t, "pi", qwenSample, func(l lab) string { return piFile(l, qwenSample) }, []historyCase{{
		"rewind, summary and errors", `
{"type":"session","version":3,"id":"` + qwenSample + `","cwd":"/r"}
{"type":"model_change","id":"0","parentId":null}
{"type":"message","id":"1","parentId":"0","message":{"role":"user","content":"first"}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Both."},{"type":"toolCall","id":"a","name":"ls","arguments":{"path": "."}}],"stopReason":"toolUse"}}
{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"a","content":[{"type":"text","text":"x"},{"type":"image","data":"eA=="}]}}
{"type":"message","id":"4","parentId":"3","message":{"role":"user","content":[{"type":"text","text":"taken back"}]}}
{"type":"message","id":"5","parentId":"4","message":{"role":"assistant","content":[{"type":"text","text":"gone"}],"stopReason":"stop"}}
{"type":"branch_summary","id":"6","parentId":"3","summary":"of what was gone"}
{"type":"message","id":"7","parentId":"6","message":{"role":"user","content":[{"type":"text","text":"second"}]}}
{"type":"message","id":"8","parentId":"7","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"slow down"}}
{"type":"message","id":"9","parentId":"8","message":{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"aborted","errorMessage":"Operation aborted"}}
{"type":"message","id":"10","parentId":"9","message":{"role":"bashExecution","command":"ls","output":"y"}}
{"type":"message","id":"11","parentId":"10","message":{"role":"compactionSummary","summary":"s"}}
{"type":"hologram","id":"12","parentId":"11"}`,
		[]string{
			"user first", `assistant Both. >a ls {"path":"."}`, "tool <a x\n[image]", "user second", "system slow down",
			"assistant half", "system interrupted by the user", "system $ ls\ny",
		}, 0,
	}})
}

// TestPiUsesOfCopies: the tokens of the other conversation are not a fork's, but are its own after a move.
func TestPiUsesOfCopies(t *testing.T) {
	for from, want := range map[string]int{"/x/2026_other.jsonl": 1, "/x/2026_" + qwenSample + ".jsonl": 2} {
		l := newLab(t)
		l.put(piFile(l, qwenSample), `{"type":"session","id":"`+qwenSample+`","timestamp":"2026-01-02T03:04:05Z","cwd":"`+l.worktree+`","parentSession":"`+from+`"}
{"type":"message","timestamp":"2026-01-02T03:04:04Z","message":{"role":"user","content":"hi"}}
{"type":"message","timestamp":"2026-01-02T03:04:04Z","message":{"role":"assistant","usage":{"input":1,"output":1}}}
{"type":"usage","timestamp":"2026-01-02T03:04:06Z","kind":"cache_warm","usage":{"cacheRead":5}}
`)
		if uses, err := get(t, "pi").Uses(t.Context(), l.with(qwenSample)); err != nil || len(uses) != want {
			t.Errorf("%s: %+v, %v, want %d", from, uses, err, want)
		}
	}
}

// inboxStandIn takes what paw puts into an inbox, as a script of paw does, until the test ends.
func inboxStandIn(t *testing.T, inbox string, take func(string)) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-ended })
	go func() {
		defer close(ended)
		for {
			if os.Rename(inbox, inbox+".taken") == nil {
				text, _ := os.ReadFile(inbox + ".taken")
				take(string(text))
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
}

// TestPiChannel: a prompt counts as handed over once its file was taken, and one that nobody takes is taken back.
func TestPiChannel(t *testing.T) {
	l := newLab(t)
	s := hooked(l.spec)
	command := launch(t, "pi", s)
	if err := os.MkdirAll(l.spec.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range command.Files {
		if err := os.WriteFile(file.Path, file.Content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	extension, listens, inbox := command.Files[0], command.Files[1].Path, command.Files[2].Path
	if want := []string{"/nowhere/cli", "--session-id", id, "-e", extension.Path}; cmp.Diff(want, command.Argv) != "" {
		t.Errorf("%q", command.Argv)
	}
	for _, part := range []string{`hook = "/opt/paw"`, `listens = "` + listens + `"`, `inbox = "` + inbox + `"`} {
		if !strings.Contains(string(extension.Content), part) {
			t.Errorf("the extension has no %s", part)
		}
	}
	if strings.Contains(string(extension.Content), "@") {
		t.Error("the extension has a gap")
	}
	channel := get(t, "pi").Channel(s)
	if channel.Open(t.Context()) {
		t.Error("it is open before the extension listens")
	}
	if err := os.WriteFile(listens, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := make(chan string, 3)
	t.Run("taken", func(t *testing.T) {
		inboxStandIn(t, inbox, func(text string) { taken <- text })
		const prompt = "two\nlines \"quoted\" é"
		if !channel.Open(t.Context()) {
			t.Fatal("it is not open")
		}
		if err := channel.Submit(t.Context(), prompt, cli.Screen{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"", prompt} { // what the launch put there is empty, too
			got := <-taken
			for want != "" && got == "" {
				got = <-taken
			}
			if got != want {
				t.Errorf("%q was taken, want %q", got, want)
			}
		}
	})
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if err := channel.Submit(cut, "nobody takes it", cli.Screen{}); !errors.Is(err, cli.ErrNotHandedOver) {
		t.Errorf("not taken: %v", err)
	}
	if _, err := os.Stat(inbox); err == nil {
		t.Error("what nobody took is still there")
	}
}

// TestPiQuestion reads the list of an extension.
func TestPiQuestion(t *testing.T) {
	_, shot := readScreen(t, filepath.Join("testdata", "screens", "pi", "1.6.0-permission.txt"))
	got, ok := questionOn(t, "pi", shot)
	want := cli.Question{
		Text:    "Run this command? env PAW_ASK=1 sh -c 'touch b.txt'",
		Options: []cli.Option{{Label: "Yes", Selected: true}, {Label: "No"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	for _, name := range []string{"idle", "model", "resume", "settings", "tree", "draft"} {
		_, shot := readScreen(t, filepath.Join("testdata", "screens", "pi", "1.6.0-"+name+".txt"))
		if got, ok := questionOn(t, "pi", shot); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
