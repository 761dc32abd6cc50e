package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli/internal/plain"
	"paw/session/turn"
)

// hooks installs a hook program that writes down each call, and then does what the script says.
func (p *place) hooks(script string) (calls func() []string) {
	p.t.Helper()
	log, program := filepath.Join(p.root, "hooks.log"), filepath.Join(p.root, "hook")
	text := "#!/bin/sh\nprintf '%s\\t%s\\n' \"$*\" \"$(cat)\" >>" + log + "\n" + script + "\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.env = append(p.env, HookVariable+"="+program)
	return func() []string {
		content, err := os.ReadFile(log)
		if err != nil {
			p.t.Fatal(err)
		}
		var calls []string
		for line := range strings.Lines(string(content)) {
			words, payload, _ := strings.Cut(line, "\t")
			var r turn.Event
			if err := json.Unmarshal([]byte(payload), &r); err != nil {
				p.t.Fatal(err)
			}
			expect(p.t, "transcript of "+words, r.Transcript, p.transcript(r.Conversation))
			calls = append(calls, strings.TrimSpace(strings.Join([]string{words, r.Conversation, r.TurnID, r.Source, r.Prompt + r.Message}, " ")))
		}
		return calls
	}
}

func TestHooks(t *testing.T) {
	p := newPlace(t)
	calls := p.hooks("")
	s := p.show(nil, "--session-id", "a")
	s.ready()
	s.enter("do: say hello")
	s.ready("demo: hello")
	s.enter("do: ask May I?")
	s.sees("May I? [y/n]")
	s.keys("y")
	s.ready("May I? [y/n] y")
	s.enter("do: fail no quota")
	s.ready("demo: error: no quota")
	s.keys("C-d")
	s.ended("0")
	p.main("", "--resume", "a", "-p", "do: ask Now?")
	want := []string{
		"hook demo session_start a  startup",
		"hook demo prompt a a/1  do: say hello",
		"hook demo end a a/1  hello",
		"hook demo prompt a a/2  do: ask May I?",
		"hook demo input a a/2  May I?",
		"hook demo answered a a/2  y",
		"hook demo end a a/2",
		"hook demo prompt a a/3  do: fail no quota",
		"hook demo error a a/3  no quota",
		"hook demo session_end a  exit",
		"hook demo session_start a  resume",
		"hook demo prompt a a/4  do: ask Now?",
		"hook demo input a a/4  Now?",
		"hook demo answered a a/4  n",
		"hook demo end a a/4  refused: Now?",
		"hook demo session_end a  exit",
	}
	if diff := cmp.Diff(want, calls()); diff != "" {
		t.Error(diff)
	}
}

// A hook is no part of the agent's work: neither its failure nor its output reaches the user.
func TestHooksThatFail(t *testing.T) {
	p := newPlace(t)
	calls := p.hooks("echo noise; echo noise >&2; exit 2")
	code, out, errw := p.main("", "--session-id", "c1", "-p", "do: say hello")
	expect(t, "code", code, exitOK)
	expect(t, "output", out+errw, "hello\n")
	expect(t, "calls", len(calls()), 4)

	p.env = append(p.env, HookVariable+"="+filepath.Join(p.root, "missing"))
	code, out, _ = p.main("", "--session-id", "c2", "-p", "do: say hello")
	expect(t, "code without the program", code, exitOK)
	expect(t, "output without the program", out, "hello\n")
}

// The end of a turn waits for its hook, so that what it finds is what the turn left.
func TestHooksAreAwaited(t *testing.T) {
	p := newPlace(t)
	p.hooks(`case $3 in end) test -e NOTES.md && git rev-parse HEAD >` + p.root + `/head;; esac`)
	p.main("", "--session-id", "c1", "-p", "one")
	head, err := os.ReadFile(filepath.Join(p.root, "head"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "HEAD in the hook", strings.TrimSpace(string(head)), p.git("rev-parse", "HEAD"))
}

// An agent that the agent runs has turns of its own.
func TestHooksAreNotInherited(t *testing.T) {
	p := newPlace(t)
	calls := p.hooks("")
	p.main("", "--session-id", "c1", "-p", "do: run echo ${PAW_HOOK-none}")
	if got := strings.Join(calls(), "\n"); !strings.Contains(got, "end c1 c1/1  run echo ${PAW_HOOK-none}") {
		t.Error(got)
	}
	var answer string
	for _, e := range p.entries("c1") {
		if e.Event == plain.TurnEnded {
			answer = e.Answer
		}
	}
	expect(t, "answer", answer, "run echo ${PAW_HOOK-none}\nnone")
}
