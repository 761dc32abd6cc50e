package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/children"
	"paw/orchestrator/live"
	"paw/session"
)

// One Ctrl-C ends any question with the exit code of an interrupt; one Ctrl-D does with another
// code.
func TestQuestionsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ command, question, key, want string }{
		{"start", "Which ones, separated by commas?", "C-c", "ended 130"},
		{"start", "Which ones, separated by commas?", "C-d", "paw: error: no answer, nothing was done ended 1"},
		{"start", "Which ones, separated by commas?", "99", "paw: error: 99: there is no such number, they go from 1 to"},
		{"purge", "purge session shop with 1 agent? [y/N]", "C-c", "ended 130"},
		{"purge", "purge session shop with 1 agent? [y/N]", "", "paw: error: the answer was no, nothing was done ended 1"},
		{"send one", "Type the prompt, then Ctrl-D on a line of its own:", "C-c", "ended 130"},
	} {
		if c.command == "purge" && len(w.view().Sessions) == 0 {
			w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
		}
		t.Run(c.command+" "+c.key, func(t *testing.T) {
			terminal := w.terminal("trap : INT; echo; paw " + c.command + "; echo ended $?; exec cat") // tmux may lose output right before the end of a program
			defer killServer(terminal.socket)
			terminal.awaits(c.question)
			keys := []string{c.key}
			if !strings.HasPrefix(c.key, "C-") {
				keys = append(keys, "Enter")
			}
			terminal.press(keys...)
			terminal.awaits("ended ")
			if got := strings.Join(strings.Fields(terminal.screen()), " "); !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// paw wait shows on the terminal which agents it waits for, and erases that line at the end.
func TestWaitSaysForWhom(t *testing.T) {
	t.Parallel()
	w := started(t, "one", "two")
	terminal := w.terminal("echo; paw wait one two; echo ended $?; exec cat")
	terminal.awaits("waiting for one, two (0 of 2 finished, ", "two: has had no turn yet")
	w.ok(w.paw("send", "two", "do: say hello"))
	terminal.awaits("waiting for one (1 of 2 finished, ")
	w.ok(w.paw("send", "one", "do: say hello"))
	terminal.awaits("ended ")
	if got := terminal.screen(); strings.Contains(got, "waiting for") || !strings.Contains(got, "ended 0") {
		t.Error(got)
	}
}

func TestWaitingText(t *testing.T) {
	turned := live.Result{Agent: "b", Turn: 2}
	w := &children.Waited{Agents: []children.Awaited{
		{Result: live.Result{Agent: "a"}, Status: session.AgentStatus{State: session.StateIdle}},
		{Result: turned, Status: session.AgentStatus{State: session.StateIdle}},
		{Result: live.Result{Agent: "c"}, Status: session.AgentStatus{State: session.StateUnknown, Cause: session.CauseRuns}},
		{Result: live.Result{Agent: "d"}, Status: session.AgentStatus{State: session.StateUnknown, Cause: session.CauseSilent}},
		{Result: live.Result{Agent: "e"}, Finished: true},
	}}
	if got, want := waitingText(w, 70*time.Second+time.Millisecond), "waiting for a, b, c, d (1 of 5 finished, 1m10s)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := []string{
		"a: has had no turn yet; the wait goes on until it has finished one (paw send a TEXT)",
		"c: paw does not see its turns; it counts as finished when its CLI has ended",
	}
	if diff := cmp.Diff(want, waitNotes(w)); diff != "" {
		t.Error(fmt.Sprint("-want +got\n", diff))
	}
}
