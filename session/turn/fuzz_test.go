package turn

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRead reads anything as a log: it must be a turn in a state that one can go on from, and writing to it must keep
// every byte that was there.
func FuzzRead(f *testing.F) {
	f.Add([]byte(goldenFinished))
	f.Add([]byte(goldenAborted))
	f.Add([]byte(goldenFinished[:300] + goldenAborted))
	f.Add([]byte("\n\n{}\n" + strings.ReplaceAll(goldenFinished, "\n", "")))
	f.Add([]byte(`{"event":"INPUT"}{"event":"EXECUTE"}` + "\n" + `{"event":"START","prompt":{"base64":"%"}}`))
	f.Add([]byte{0, 0, 0})
	d := Dir{Path: filepath.Join(f.TempDir(), "turns")}
	path := filepath.Join(d.Path, "turn-003-prompt.log")
	f.Fuzz(func(t *testing.T, content []byte) {
		writeFile(t, path, string(content))
		tr, err := Open(path, clock())
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Record()
		ended := r.State == Finished || r.State == Aborted
		if r.Number != 3 || r.Type != TypePrompt || !ended && r.State != InProgress || ended != (r.EndedAt != nil) ||
			r.Waiting != (r.WaitingSince != nil) || ended && r.Waiting {
			t.Fatalf("%+v", r)
		}
		if err := tr.Note("\xffnoted"); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Finish(End{Outcome: "late"}); (err != nil) != ended {
			t.Fatalf("%v after %s", err, r.State)
		}
		if !strings.HasPrefix(readFile(t, path), string(content)) {
			t.Fatal("changed what was there")
		}
		again, err := d.Last()
		if err != nil || len(again.Notes) != len(r.Notes)+1 || again.Notes[len(r.Notes)] != "\xffnoted" {
			t.Fatalf("%+v, %v", again, err)
		}
		if again.Prompt != r.Prompt || ended && again.Outcome != r.Outcome {
			t.Fatalf("the writes changed %+v to %+v", r, again)
		}
	})
}

// FuzzText writes anything as a prompt and reads it back.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\n\r\x00", "\xff\xfe", `{"base64":"aGk="}`, "\u2028<&>", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		data, err := line{Event: eventStart, Prompt: text(s), Children: texts([]string{s})}.encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(data), "\n") != 1 || strings.Count(string(data), marker) != 1 {
			t.Fatalf("%q", data)
		}
		l, ok := decodeLine(data)
		if !ok || string(l.Prompt) != s || string(l.Children[0]) != s {
			t.Fatalf("%q came back as %q", s, l.Prompt)
		}
	})
}

// FuzzParseTag holds the parser against its own reverse.
func FuzzParseTag(f *testing.F) {
	for _, s := range []string{"afk-s-0", "afk-s_1-10", "afk-s-1-2", "afk-s-01", "afk--1", "afk-s-1\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if of, n, ok := ParseTag(s); ok && (TagName(of, n) != s || strings.Contains(of, "-") || n < 0) {
			t.Fatalf("%q: %q, %d", s, of, n)
		}
		if of, kind, n, ok := ParseRef(s); ok && numbered(of, kind, n) != s {
			t.Fatalf("%q: %q, %q, %d", s, of, kind, n)
		}
	})
}
