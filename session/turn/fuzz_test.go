package turn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzRead reads anything as a log: it must be a turn in a state that one can go on from, what is appended must count,
// and who has read the log before must see the same turn as who reads it now. It works in memory, for speed; write does
// the same with a file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(goldenFinished))
	f.Add([]byte(goldenAborted))
	f.Add([]byte(goldenFinished[:300] + goldenAborted))
	f.Add([]byte("\n\n{}\n" + strings.ReplaceAll(goldenFinished, "\n", "")))
	f.Add([]byte(`{"event":"INPUT"}{"event":"EXECUTE"}` + "\n" + `{"event":"START","prompt":{"base64":"%"}}`))
	f.Add([]byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		l := newLog("turn-003-prompt.log", 3, TypePrompt)
		l.feed(content, -1)
		before := l.view()
		ended := before.State == Finished || before.State == Aborted
		if before.Number != 3 || before.Type != TypePrompt || !ended && before.State != InProgress ||
			ended != (before.EndedAt != nil) || before.Waiting != (before.WaitingSince != nil) || ended && before.Waiting {
			t.Fatalf("%+v", before)
		}
		for _, e := range []line{
			{Event: eventNote, At: second(1), Text: "\xffnoted"},
			{Event: eventEnd, At: second(2), Outcome: "late"},
		} {
			data, err := e.encode()
			if err != nil {
				t.Fatal(err)
			}
			if len(content) > 0 && content[len(content)-1] != '\n' {
				content = append(content, '\n')
			}
			own := int64(len(content))
			content = append(content, data...)
			if applied := l.feed(content[l.offset:], own); applied == (ended && e.Event == eventEnd) {
				t.Fatalf("%s took effect: %v; before %+v", e.Event, applied, before)
			}
		}
		fresh := newLog(l.path, 3, TypePrompt)
		fresh.feed(content, -1)
		if diff := cmp.Diff(l.view(), fresh.view()); diff != "" {
			t.Fatalf("who reads it now sees another turn: %s", diff)
		}
		if after := l.view(); after.Prompt != before.Prompt || ended && after.Outcome != before.Outcome ||
			len(after.Notes) != len(before.Notes)+1 || after.Notes[len(before.Notes)] != "\xffnoted" {
			t.Fatalf("the writes changed %+v to %+v", before, after)
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
	})
}
