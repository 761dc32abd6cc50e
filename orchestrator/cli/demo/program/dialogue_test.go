package program

import "testing"

func TestNoTerminal(t *testing.T) {
	p := newPlace(t)
	code, out, errw := p.main("do: say hi\n", "--session-id", "a")
	expect(t, "exit code", code, 2)
	expect(t, "output", out, "")
	expect(t, "errors", errw, "demo: error: its input is no terminal; a turn without one is -p PROMPT\n")
	expect(t, "events", p.events("a"), "")
}

func TestPromptArgumentAndReplay(t *testing.T) {
	p := newPlace(t)
	p.main("", "--session-id", "a", "-p", "do: say one\ndo: say two")
	p.main("", "--resume", "a", "-p", "do: fail busy")
	s := p.show(nil, "--resume", "a", "do: say three")
	s.ready("demo agent in "+p.repo, "conversation a", "Type anything; /help shows what else I can do.", "you: do: say one", "     do: say two",
		"demo: one", "      two", "you: do: fail busy", "demo: error: busy", "> do: say three", "demo: three")
}
