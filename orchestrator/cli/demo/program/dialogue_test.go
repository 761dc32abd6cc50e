package program

import (
	"strings"
	"testing"
)

func TestLinesOfAPipe(t *testing.T) {
	p := newPlace(t)
	input := "do: ask first?\ny\ndo: ask second?\nNo way\n\n\x1b[200~two\nlines\x1b[201~\ndo: say bye\n/exit\nnever\n"
	code, out, errw := p.main(input, "--session-id", "a")
	expect(t, "exit code", code, 0)
	expect(t, "errors", errw, "")
	want := "demo agent in " + p.repo + "\nconversation a\n> \nfirst? [y/n] y\n> \n> \nsecond? [y/n] n\n" +
		"demo: refused: second?\n> \n> \n> \ndemo: committed " + p.git("rev-parse", "--short", "HEAD") + " two\n" +
		"> \ndemo: bye\n> \n\n"
	expect(t, "output", out, want)
	expect(t, "NOTES.md", p.read("NOTES.md"), "two\nlines\n")
	expect(t, "events", p.events("a"), "start turn_start waiting answered turn_end turn_start waiting answered turn_end "+
		"turn_start turn_end turn_start turn_end exit")
}

func TestEndOfPipe(t *testing.T) {
	for _, test := range []struct{ name, input, events, shown string }{
		{"nothing", "", "start exit", "> "},
		{"no line end", "do: say hi", "start turn_start turn_end exit", "demo: hi\n"},
		{"in a question", "do: ask ok?\n", "start turn_start waiting answered turn_end exit", "demo: refused: ok?\n"},
		{"in a turn", "do: sleep 0.1\n", "start turn_start turn_end exit", "> "},
		{"after exit 3", "do: exit 3\ndo: say no\n", "start turn_start exit", "> "},
	} {
		p := newPlace(t)
		code, out, _ := p.main(test.input, "--session-id", "a")
		expect(t, test.name+": exit code", code, map[string]int{"after exit 3": 3}[test.name])
		expect(t, test.name+": events", p.events("a"), test.events)
		if !strings.Contains(out, test.shown) {
			t.Errorf("%s: %q", test.name, out)
		}
	}
}

func TestPromptArgumentAndReplay(t *testing.T) {
	p := newPlace(t)
	p.main("do: fail busy\n", "--session-id", "a", "do: say one\ndo: say two")
	_, out, _ := p.main("", "--resume", "a", "do: say three")
	expect(t, "output", out, "demo agent in "+p.repo+"\nconversation a\nyou: do: say one\n     do: say two\ndemo: one\n      two\n"+
		"you: do: fail busy\ndemo: error: busy\n> do: say three\ndemo: three\n> \n")
}
