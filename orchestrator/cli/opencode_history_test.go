package cli_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpencodeHistory(t *testing.T) {
	user := func(id, parts string) string {
		return `{"info":{"id":"` + id + `","role":"user","time":{"created":1},"summary":{"diffs":[]}},"parts":[` + parts + `]}`
	}
	model := func(id, more, parts string) string {
		return `{"info":{"id":"` + id + `","role":"assistant","time":{"created":2}` + more + `},"parts":[` + parts + `]}`
	}
	text := func(text string) string { return `{"type":"text","text":"` + text + `"}` }
	tool := func(id, state string) string {
		return `{"type":"tool","callID":"` + id + `","tool":"bash","state":{"input":{"command": "ls"},` + state + `}}`
	}
	for _, c := range []struct {
		name, info string
		messages   []string
		want       []string
		skipped    int
	}{
		{
			"tools in the midst", `{}`, []string{
				user("1", text("first")+`,{"type":"text","text":"injected","synthetic":true},{"type":"file"},{"type":"hologram"}`),
				model("2", "", text("Both.")+","+tool("a", `"status":"completed","output":"NOTES.md"`)+","+tool("b", `"status":"error","error":"denied"`)+","+text("Done.")),
				model("3", "", tool("c", `"status":"running"`)),
			},
			[]string{
				"user first", `assistant Both. >a bash {"command":"ls"}`, "tool <a NOTES.md", `assistant >b bash {"command":"ls"}`, "tool <b denied",
				`assistant Done. >c bash {"command":"ls"}`,
			}, 1,
		},
		{
			"undo, compaction and errors", `{"revert":{"messageID":"6"}}`, []string{
				user("1", text("first")),
				model("2", `,"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}`, text("half")),
				user("3", `{"type":"compaction"}`),
				model("4", `,"summary":true`, text("summary of first")),
				model("5", `,"error":{"name":"APIError","data":{"message":"overloaded"}}`, ""),
				user("6", text("taken back")),
				model("7", "", text("gone")),
			},
			[]string{"user first", "assistant half", "system interrupted by the user", "system overloaded"}, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			s := l.with(opencodeID)
			s.Executable = exporter(l, l.put("export.json", `{"info":`+c.info+`,"messages":[`+strings.Join(c.messages, ",")+`]}`))
			got, err := get(t, "opencode").History(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, inLines(got)); diff != "" || got.Skipped != c.skipped {
				t.Errorf("%d skipped, want %d; -want +got\n%s", got.Skipped, c.skipped, diff)
			}
		})
	}
	l := newLab(t)
	s := l.with(opencodeID)
	s.Executable = exporter(l, l.put("export.json", `{"info":{},"messages":[{"info"`))
	if got, err := get(t, "opencode").History(context.Background(), s); err == nil {
		t.Errorf("half an export is read as %+v", got)
	}
}
