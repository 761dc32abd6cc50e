package turn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// goldenFinished and goldenAborted pin the format: logs of today are read by the paw of tomorrow.
const goldenFinished = `{"event":"START","at":"2026-11-21T03:00:01.005Z","number":3,"type":"prompt","launch":"l1","conversation":"c1","turn_id":"t1","commit":"aaa","prompt":"fix \"it\" <now> & here\nplease"}
{"event":"EXECUTE","at":"2026-11-21T03:00:02.005Z","description":"and this"}
{"event":"INPUT","at":"2026-11-21T03:00:03.005Z","question":"Bash: git push"}
{"event":"EXECUTE","at":"2026-11-21T03:00:04.005Z"}
{"event":"CHILDREN","at":"2026-11-21T03:00:05.005Z","children":["helper","tester"]}
{"event":"NOTE","at":"2026-11-21T03:00:06.005Z","text":{"base64":"//4="}}
{"event":"END","at":"2026-11-21T03:00:07.005Z","outcome":"success","commit_hash":"bbb","snapshot":"ccc","message":"done"}
{"event":"NOTE","at":"2026-11-21T03:00:08.005Z","text":"tagged late"}
`

const goldenAborted = `{"event":"START","at":"2026-11-21T03:00:01.005Z","number":1000,"type":"review.2-x_y"}
{"event":"ABORT","at":"2026-11-21T03:00:02.005Z","reason":"error","error_type":"rate_limit","message":"429","trace":"here\nthere"}
`

func writeFinished(t *testing.T, d Dir) *Turn {
	t.Helper()
	tr := New(d, 3, clock())
	steps := []func() error{
		func() error {
			return tr.Start(Start{
				Type: TypePrompt, Prompt: "fix \"it\" <now> & here\nplease", Launch: "l1", Conversation: "c1", TurnID: "t1", Commit: "aaa",
			})
		},
		func() error { return tr.Execute("and this") },
		func() error { return tr.Input("Bash: git push", "") },
		func() error { return tr.Resumed() },
		func() error { return tr.Children([]string{"helper", "tester"}) },
		func() error { return tr.Note("\xff\xfe") },
		func() error {
			_, err := tr.Finish(End{Outcome: "success", CommitHash: "bbb", Snapshot: "ccc", Message: "done"})
			return err
		},
		func() error { return tr.Note("tagged late") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

func TestFormat(t *testing.T) {
	syscall.Umask(0) // the modes are paw's own doing
	d := testDir(t)
	tr := writeFinished(t, d)
	if tr.Path() != filepath.Join(d.Path, "turn-003-prompt.log") {
		t.Errorf("path %s", tr.Path())
	}
	if diff := cmp.Diff(goldenFinished, readFile(t, tr.Path())); diff != "" {
		t.Error(diff)
	}
	aborted := New(d, 1000, clock())
	if err := aborted.Start(Start{Type: "review.2-x_y"}); err != nil {
		t.Fatal(err)
	}
	_ = aborted.Abort(&Abort{Reason: ReasonError, ErrorType: "rate_limit", Message: "429", Trace: "here\nthere"})
	if aborted.Path() != filepath.Join(d.Path, "turn-1000-review.2-x_y.log") {
		t.Errorf("path %s", aborted.Path())
	}
	if diff := cmp.Diff(goldenAborted, readFile(t, aborted.Path())); diff != "" {
		t.Error(diff)
	}
	for path, mode := range map[string]os.FileMode{
		tr.Path(): 0o600, d.Path: 0o700 | os.ModeDir, filepath.Dir(d.Path): 0o700 | os.ModeDir,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestReadsTheFormat(t *testing.T) {
	d := testDir(t)
	path := filepath.Join(d.Path, "turn-003-prompt.log")
	writeFile(t, path, goldenFinished)
	got, err := d.Last()
	if err != nil {
		t.Fatal(err)
	}
	ended := second(7)
	want := Record{
		Number: 3, Type: TypePrompt, State: Finished,
		Prompt: "fix \"it\" <now> & here\nplease", Joined: []string{"and this"}, Launch: "l1", Conversation: "c1", TurnID: "t1", StartCommit: "aaa",
		StartedAt: second(1), EndedAt: &ended,
		Outcome: "success", CommitHash: "bbb", Snapshot: "ccc", Message: "done",
		Answered: &Asked{Conversation: "c1", Question: "Bash: git push", Since: time.Date(2026, 11, 21, 3, 0, 4, 5000000, time.UTC)},
		Children: []string{"helper", "tester"}, Notes: []string{"\xff\xfe", "tagged late"},
		LastEventAt: second(8), LogFile: path,
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Error(diff)
	}
}

// TestTornAtEachByte cuts a log at every byte, as a kill, a full disk or a power loss may. What is before the torn line
// is read; an append then goes to a line of its own and is read too.
func TestTornAtEachByte(t *testing.T) {
	full := readFile(t, writeFinished(t, testDir(t)).Path())
	full = full[:strings.Index(full, `{"event":"END"`)] // still in progress, so that it can be ended
	d := testDir(t)
	path := filepath.Join(d.Path, "turn-003-prompt.log")
	for cut := range len(full) + 1 {
		writeFile(t, path, full[:cut])
		whole := strings.Count(full[:cut], "\n")
		if cut < len(full) && full[cut] == '\n' {
			whole++ // only the newline is missing
		}
		tr, err := Open(path, clock())
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		r := tr.Record()
		if r.State != InProgress || r.Number != 3 || r.Type != TypePrompt || r.StartedAt.IsZero() || r.LastEventAt.IsZero() {
			t.Fatalf("cut at %d: %+v", cut, r)
		}
		if (r.Prompt != "") != (whole > 0) || r.Waiting != (whole == 3) || (len(r.Children) == 2) != (whole > 4) ||
			(len(r.Notes) == 1) != (whole > 5) {
			t.Fatalf("cut at %d, after %d whole lines: %+v", cut, whole, r)
		}
		if err := tr.Note("after the cut"); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if _, err := tr.Finish(End{Outcome: "late"}); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		again, err := d.Last()
		if err != nil {
			t.Fatal(err)
		}
		if again.State != Finished || again.Outcome != "late" || again.Notes[len(again.Notes)-1] != "after the cut" {
			t.Fatalf("cut at %d: %+v", cut, again)
		}
		if (again.Prompt != "") != (whole > 0) || (len(again.Notes) == 2) != (whole > 5) {
			t.Fatalf("cut at %d: the append changed what was there: %+v", cut, again)
		}
		kept := full[:cut]
		if kept != "" && !strings.HasSuffix(kept, "\n") {
			kept += "\n"
		}
		if !strings.HasPrefix(readFile(t, path), kept+marker) {
			t.Fatalf("cut at %d: the append changed the torn line, or is not on one of its own", cut)
		}
	}
}

// TestReadWhileItIsWritten has a reader look again and again while a slow writer writes, and while writers do that have
// no room for their newlines.
func TestReadWhileItIsWritten(t *testing.T) {
	for _, log := range []string{goldenFinished, strings.ReplaceAll(goldenFinished, "\n", "") + "\n"} {
		content := []byte(log)
		whole := newLog("x", 3, TypePrompt)
		whole.feed(content, -1)
		for step := 1; step <= len(content); step++ {
			slow := newLog("x", 3, TypePrompt)
			applied := 0
			for end := step; ; end = min(end+step, len(content)) {
				if slow.feed(content[slow.offset:end], int64(strings.LastIndex(log, marker))) {
					applied++
				}
				if end == len(content) {
					break
				}
			}
			if diff := cmp.Diff(whole.view(), slow.view()); diff != "" || slow.offset != int64(len(content)) {
				t.Fatalf("every %d bytes: read %d bytes of %d: %s", step, slow.offset, len(content), diff)
			}
			if applied != 1 || slow.view().State != Finished {
				t.Fatalf("every %d bytes: the last event took effect %d times, the turn is %s", step, applied, slow.view().State)
			}
		}
	}
}

// TestGluedLines is a torn line that another process, which had looked before, added its line to.
func TestGluedLines(t *testing.T) {
	lines := strings.SplitAfter(goldenFinished, "\n")
	start, end := lines[0], lines[6]
	d := testDir(t)
	path := filepath.Join(d.Path, "turn-003-prompt.log")
	for cut := range len(lines[1]) - 1 { // the last one is a whole line without its newline
		writeFile(t, path, start+lines[1][:cut]+end)
		if r, err := d.Last(); err != nil || r.State != Finished || r.Outcome != "success" {
			t.Fatalf("cut at %d: %+v, %v", cut, r, err)
		}
	}
	writeFile(t, path, start+strings.TrimSuffix(lines[2], "\n")+strings.TrimSuffix(lines[5], "\n")+end)
	if r, err := d.Last(); err != nil || r.State != Finished || len(r.Notes) != 1 {
		t.Errorf("three whole ones: %+v, %v", r, err)
	}
	// A prompt that quotes a log is not taken for one.
	writeFile(t, path, start)
	tr, err := Open(path, clock())
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Note(goldenAborted + end); err != nil {
		t.Fatal(err)
	}
	torn := strings.TrimSuffix(readFile(t, path), "\"}\n")
	writeFile(t, path, torn+"\n")
	if r, err := d.Last(); err != nil || r.State != InProgress {
		t.Errorf("a quoted log counted: %+v, %v", r, err)
	}
}

func TestForeignContent(t *testing.T) {
	lines := strings.SplitAfter(goldenFinished, "\n")
	d := testDir(t)
	path := filepath.Join(d.Path, "turn-003-prompt.log")
	tests := map[string]struct {
		content string
		state   State
	}{
		"empty":                    {"", InProgress},
		"zeros after a power loss": {strings.Repeat("\x00", 4096), InProgress},
		"garbage lines":            {"hello\n\n[]\n42\nnull\n{}\n{\"event\":7}\n" + lines[0], InProgress},
		"unknown event":            {lines[0] + `{"event":"LATER","at":"2030-01-01T00:00:00Z","new":[1]}` + "\n" + lines[6], Finished},
		"unknown field":            {lines[0] + `{"event":"END","at":"2030-01-01T00:00:00Z","new":{"event":"ABORT"}}` + "\n", Finished},
		"two starts":               {lines[0] + strings.Replace(lines[0], "please", "no", 1), InProgress},
		"end after end":            {lines[0] + lines[6] + goldenAborted, Finished},
		"execute after end":        {lines[0] + lines[6] + lines[2], Finished},
		"abort before the start":   {strings.SplitAfter(goldenAborted, "\n")[1] + lines[0], Aborted},
		"carriage returns":         {strings.ReplaceAll(lines[0]+lines[6], "\n", "\r\n"), Finished},
	}
	for name, tt := range tests {
		writeFile(t, path, tt.content)
		r, err := d.Last()
		if err != nil || r.State != tt.state || r.Waiting || r.StartedAt.IsZero() {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if strings.Contains(tt.content, "please") && r.Prompt != "fix \"it\" <now> & here\nplease" {
			t.Errorf("%s: prompt %q", name, r.Prompt)
		}
	}
}

func TestTextIsKeptByteForByte(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	pattern := "it's \"quoted\" \\ back `tick` $HOME\r\n\ttab \x00 nul \u2028 \ufffd 項目 <&> {\"event\":\"END\"}\n"
	tests := map[string]string{
		"empty":                 "",
		"pattern":               pattern,
		"every byte":            string(every),
		"lone continuation":     "\x80",
		"cut rune":              "項"[:2],
		"surrogate":             "\xed\xa0\x80",
		"looks like base64":     `{"base64":"aGk="}`,
		"128 KiB":               strings.Repeat(pattern, 128<<10/len(pattern)+1)[:128<<10],
		"1 MiB":                 strings.Repeat(pattern, 1<<20/len(pattern)+1),
		"1 MiB of every byte":   strings.Repeat(string(every), 4096),
		"1 MiB without newline": strings.Repeat("x", 1<<20),
	}
	for name, prompt := range tests {
		d := testDir(t)
		tr := New(d, 1, clock())
		if err := tr.Start(Start{Type: TypePrompt, Prompt: prompt, TurnID: prompt}); err != nil {
			t.Fatal(name, err)
		}
		if err := tr.Execute(prompt); err != nil {
			t.Fatal(name, err)
		}
		if _, err := tr.Finish(End{Message: prompt}); err != nil {
			t.Fatal(name, err)
		}
		r, err := d.Last()
		if err != nil || string(r.Prompt) != prompt || r.TurnID != prompt || r.Message != prompt || r.State != Finished {
			t.Errorf("%s: not what was written (%d bytes of %d), %v", name, len(r.Prompt), len(prompt), err)
		}
		if lines := strings.Count(readFile(t, tr.Path()), "\n"); lines != 3 {
			t.Errorf("%s: %d lines", name, lines)
		}
	}
}

func TestEveryEventBeginsWithTheMarker(t *testing.T) {
	for _, l := range strings.SplitAfter(strings.TrimSuffix(goldenFinished+goldenAborted, "\n"), "\n") {
		if !strings.HasPrefix(l, marker) || strings.Count(l, marker) != 1 {
			t.Errorf("%q", l)
		}
	}
}

func TestFailedWriteOfStartLeavesNothing(t *testing.T) {
	d := testDir(t)
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	far := New(d, 1, clock())
	far.now = beyondRFC3339
	if err := far.Start(Start{Type: TypePrompt}); err == nil {
		t.Fatal("started at a time that cannot be written")
	}
	if d.Highest() != 0 || far.State() != Initial {
		t.Errorf("highest %d, state %s", d.Highest(), far.State())
	}
	far.now = clock()
	if err := far.Start(Start{Type: TypePrompt}); err != nil {
		t.Errorf("the number is not free: %v", err)
	}
	var refused *TransitionError
	far.now = beyondRFC3339
	before := readFile(t, far.Path())
	if err := far.Note("x"); err == nil || errors.As(err, &refused) || readFile(t, far.Path()) != before {
		t.Errorf("got %v", err)
	}
}
