package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/observe"
	"paw/session"
)

// press types keys, by their tmux names, on a terminal.
func (o outerTerminal) press(keys ...string) {
	o.w.t.Helper()
	o.w.ok(o.tmux(append([]string{"send-keys", "--"}, keys...)...))
}

// awaits waits until the terminal shows all texts.
func (o outerTerminal) awaits(texts ...string) {
	o.w.t.Helper()
	o.awaitsFor(patience, texts...)
}

// awaitsFor is awaits with another time limit.
func (o outerTerminal) awaitsFor(patience time.Duration, texts ...string) {
	o.w.t.Helper()
	for began := time.Now(); ; pause(began) {
		screen, missing := o.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Since(began) > patience {
			o.w.t.Fatalf("never shown: %s\n%s", missing, screen)
		}
	}
}

// deskScript runs the desk between two looks at the settings of its terminal, which are to be the same.
const deskScript = `echo before; stty -g > set.before; paw; code=$?; stty -g > set.after; echo left with $code; cmp set.before set.after && echo as before; exec sleep 600`

// desks returns the pids of the desks of this world.
func (w *world) desks() (pids []int) {
	for _, p := range processes("HOME=" + filepath.Join(w.root, "home")) {
		if filepath.Base(p.words[0]) == "paw" && (len(p.words) == 1 || p.words[1] == "ui") {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// The desk says which agents need the user, follows what the agents do, and leaves the terminal as
// it was.
func TestDesk(t *testing.T) {
	t.Parallel()
	w := started(t, "api", "web", "tests")
	w.ok(w.paw("send", "web", "add a search box"))
	w.ok(w.paw("wait", "web"))
	w.ok(w.paw("send", "tests", "do: say I read the tests first.\ndo: hang"))
	terminal := w.sized(120, 35, deskScript)
	terminal.awaits("TO REVIEW 1", "WORKING 1", "QUIET 1", "add a search box", "+1 -0", "shop  ")
	if strings.Contains(terminal.screen(), "before") {
		t.Errorf("it is not on the other screen:\n%s", terminal.screen())
	}

	asked := time.Now()
	w.ok(w.paw("send", "api", "do: ask Run npm test?"))
	terminal.awaits("NEEDS YOU 1", "waits for you", "Run npm test?")
	t.Logf("seen %s after the prompt was typed", time.Since(asked).Round(10*time.Millisecond))

	terminal.press("/", "w", "e", "b", "Enter")
	terminal.awaits("/web", "TO REVIEW 1")
	terminal.press("d")
	terminal.awaits("since you looked", "+add a search box")
	terminal.press("m")
	terminal.awaits("web: marked as seen, as it was shown", "no changes since you looked")
	terminal.press("Escape")
	terminal.awaits("/web", "QUIET 1")
	terminal.press("Escape")
	terminal.awaits("QUIET 1", "NEEDS YOU 1")

	terminal.press("1", "Enter")
	terminal.awaits("[paw-shop]") // in the status line of tmux
	w.ok(w.tmux("detach-client", "-s", "=paw-shop"))
	terminal.awaits("NEEDS YOU 1")
	terminal.press("a")
	terminal.awaits("api asks: Run npm test?", "1 y  ", "2 n  ")
	terminal.press("y")
	terminal.awaits(`api: answered "`, "TO REVIEW 1")

	terminal.press("s", "m", "o", "r", "e", "Enter")
	terminal.awaits("turn 2 started")
	terminal.press("q")
	terminal.awaits("before", "left with 0", "as before")
	waitFor(t, "nothing to be left behind", func() bool { return len(w.desks()) == 0 })
}

// A desk that is killed leaves nothing behind, and the agents go on.
func TestDeskIsKilled(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	terminal := w.sized(100, 30, "trap : INT; "+deskScript)
	terminal.awaits("QUIET 1", "demo agent in")
	terminal.press("s", "l", "a", "t", "e", "r", "Escape")
	waitFor(t, "the prompt is kept", func() bool {
		kept, _ := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/agents/shop/one/draft.txt"))
		return string(kept) == "later"
	})
	for _, pid := range w.desks() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "no desk is left", func() bool { return len(w.desks()) == 0 })
	w.ok(w.paw("send", "one", "add a search box"))
	w.ok(w.paw("wait", "one"))

	terminal = w.sized(100, 30, "paw; exec sleep 600")
	terminal.awaits("demo agent in")
	terminal.press("s")
	terminal.awaits("> later")
	terminal.press("Enter")
	terminal.awaits("turn 2 started")
	if _, err := os.Stat(filepath.Join(w.root, "home/.local/state/paw/agents/shop/one/draft.txt")); !os.IsNotExist(err) {
		t.Errorf("after it was sent: %v", err)
	}
}

// Two desks show the same, while the sizes of their terminals change again and again.
func TestTwoDesksInAStorm(t *testing.T) {
	t.Parallel()
	w := started(t, "one", "two")
	terminal := w.sized(120, 35, "paw; echo left with $?; exec sleep 600")
	outer := func(args ...string) {
		t.Helper()
		w.ok(terminal.tmux(args...))
	}
	outer("new-window", "-d", "-n", "second", "PATH="+filepath.Join(w.root, "bin")+":$PATH; paw ui --all; exec sleep 600")
	terminal.awaits("QUIET 2")
	for i := range 60 {
		outer("resize-window", "-t", ":0", "-x", fmt.Sprint(10+(i*37)%290), "-y", fmt.Sprint(3+(i*13)%77), ";", "resize-window", "-t", ":second", "-x", fmt.Sprint(10+(i*53)%290))
		if i == 30 {
			w.ok(w.paw("send", "two", "do: ask really?"))
		}
	}
	outer("resize-window", "-t", ":0", "-x", "80", "-y", "24", ";", "resize-window", "-t", ":second", "-x", "80", "-y", "24")
	terminal.awaits("NEEDS YOU 1", "? 2  two  demo  waits for you", "QUIET 1", "? help")
	terminal.press("q")
	terminal.awaits("left with 0")
	outer("select-window", "-t", ":second")
	terminal.awaits("all sessions", "NEEDS YOU 1", "? 2  two  demo  waits for you", "QUIET 1")
}

// Without a terminal, or on a dumb one, paw without arguments is paw status.
// A CLI that has ended by itself has left its pane and its lock.
func TestDeskAgentWhoseCLIHasExited(t *testing.T) {
	alive := true
	for want, pid := range map[bool]int{true: 0, false: 7} {
		one := observe.AgentStatus{Record: session.Agent{Name: "a"}, AgentStatus: session.AgentStatus{State: session.StateError}, PaneID: "%1", PaneAlive: &alive, PID: pid}
		st := observe.SessionStatus{Session: &session.Session{Name: "s", Agents: []session.Agent{one.Record}}, Agents: []observe.AgentStatus{one}}
		if st.Seen.Agents = make([]observe.Agent, 1); deskAgent(st, 0).Exited != want {
			t.Errorf("held by %d: %v", pid, !want)
		}
		if st.Seen.Agents = nil; deskAgent(st, 0).Exited {
			t.Errorf("held by %d on another machine", pid)
		}
	}
}

func TestNoDeskInAPipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
	if out := w.ok(w.paw()); !strings.HasPrefix(out.stdout, "shop  active  ") {
		t.Error(out.stdout)
	}
	if out := w.paw("ui"); out.code != 1 || !strings.Contains(out.stderr, "paw: hint: paw status --all") {
		t.Errorf("%d %s", out.code, out.stderr)
	}
	terminal := w.terminal("TERM=dumb paw; exec sleep 600")
	terminal.awaits("AGENT  CLI")
}

// A day's work without leaving the desk: an agent is added, prompted in the editor, reviewed, landed, taken back, rewound,
// stopped; tmux dies, and all is recovered.
func TestADayWithTheDesk(t *testing.T) {
	t.Parallel()
	w := started(t, "api")
	w.script(w.root, "editor", "#!/bin/sh\nprintf 'do: write a.txt from the editor\\ndo: commit more words\\n' > \"$1\"\n")
	w.git(w.repo, "config", "core.editor", filepath.Join(w.root, "editor"))
	terminal := w.sized(120, 35, deskScript)
	terminal.awaits("QUIET 1")

	terminal.press("+")
	terminal.awaits("add to shop")
	terminal.press("web=demo", "Enter")
	terminal.awaits("first prompt of web=demo")
	terminal.press("add a search box", "Enter")
	terminal.awaits("$ paw add --session shop --cli web=demo", "done in", "TO REVIEW 1")
	terminal.press("Escape")
	terminal.awaits("? help")

	terminal.press("/", "api", "Enter", "s")
	terminal.awaits("prompt for api")
	terminal.press("C-g")
	terminal.awaits("do: commit more words")
	terminal.press("Enter")
	terminal.awaits("api: turn 1 started")
	waitFor(t, "the turn has ended", func() bool { return w.agent("api").TurnsCompleted == 1 })
	terminal.awaits("TO REVIEW 1", "+1 -0")
	terminal.press("d")
	terminal.awaits("since you looked", "+from the editor")
	terminal.press("n", "n", "j", "c")
	terminal.awaits("comment on this line of api")
	terminal.press("do: say I see", "Enter")
	terminal.awaits("comment on a.txt:1 kept", "● +from the editor")
	terminal.press("Enter")
	terminal.awaits("your comment on a.txt:1", "> do: say I see")
	terminal.press("Escape")
	terminal.awaits("Enter changes or deletes it")
	terminal.press("B")
	terminal.awaits("since its base", "+from the editor")
	terminal.press("[")
	terminal.awaits("turn 1  pane")
	terminal.press("L")
	terminal.awaits("land this work of api?", "into main")
	terminal.press("y")
	terminal.awaits("landed shop/api (turn 1) in main")
	if got := w.git(w.repo, "show", "main:a.txt"); got != "from the editor\n" {
		t.Errorf("landed: %q", got)
	}
	terminal.press("Escape")
	terminal.awaits("N hunk")
	terminal.press("q")
	terminal.awaits("QUIET 1")
	terminal.press("U")
	terminal.awaits("take back this landing, the last one of shop?", "undo landing 1 of shop/api")
	terminal.press("y")
	waitFor(t, "the landing is taken back", func() bool { return w.run(w.repo, nil, "git", "cat-file", "-e", "main:a.txt").code != 0 })
	terminal.awaits("done in")
	terminal.press("Escape")
	terminal.awaits("? help")
	terminal.press("C")
	terminal.awaits("send 1 comment to api?", "a.txt:1: do: say I see")
	terminal.press("D")
	waitFor(t, "it is forgotten", func() bool { return w.ok(w.paw("review", "api", "--list")).stdout == "" })
	terminal.press("r")
	terminal.awaits("rewind the files of api to the end of turn")
	terminal.press("0", "Enter")
	terminal.awaits("api: back before turn 1")
	terminal.press("Escape")
	terminal.awaits("? help")
	waitFor(t, "its lines are counted again", func() bool { return !strings.Contains(terminal.screen(), "+1 -0") })

	terminal.press("x")
	terminal.awaits("stop api?")
	terminal.press("y")
	terminal.awaits("stopped")
	terminal.press("Escape")
	terminal.awaits("demo  stopped")
	killServer(w.socket)
	terminal.awaits("NEEDS YOU 1", "suspended", "crash")
	terminal.press("1", "R")
	terminal.awaits("recover shop: same panes, same conversations?")
	terminal.press("y")
	terminal.awaits("resumed", "done in")
	terminal.press("Escape")
	terminal.awaits("? help")
	waitFor(t, "the agent is back", func() bool { return w.agent("web").State != "suspended" })
	terminal.press("q")
	terminal.awaits("left with 0", "as before")
}

// In a tmux popup, Enter shows the agent and ends the desk, and so does closing the popup. No desk
// is left.
func TestDeskInAPopup(t *testing.T) {
	t.Parallel()
	w := started(t, "one", "two")
	terminal := w.sized(120, 35, "paw attach one; exec sleep 600")
	terminal.awaits("[paw-shop]")
	client := strings.TrimSpace(w.ok(w.tmux("list-clients", "-F", "#{client_name}")).stdout)
	popup := func() (closed chan output) {
		closed = make(chan output, 1)
		go func() {
			closed <- w.tmux("display-popup", "-c", client, "-d", w.repo, "-w", "90%", "-h", "85%", "-E", "exec "+pawForTests()+" ui")
		}()
		terminal.awaits("QUIET 2", "? help")
		return closed
	}
	gone := func(closed chan output) {
		t.Helper()
		<-closed
		waitFor(t, "no desk is left", func() bool { return len(w.desks()) == 0 })
	}
	closed := popup()
	terminal.press("2", "Enter")
	gone(closed)
	if at := w.ok(w.tmux("display-message", "-p", "-t", "=paw-shop:", "#{@paw_agent}")).stdout; !strings.Contains(at, "two") {
		t.Errorf("at %s", at)
	}
	closed = popup()
	w.ok(w.tmux("display-popup", "-C", "-c", client))
	gone(closed)
	terminal.awaits("[paw-shop]")
	w.ok(w.paw("send", "one", "add a search box"))
	w.ok(w.paw("wait", "one"))
}

// The desk asks before it is left while a check runs, and then leaves no process of the check, even
// one that ignores signals.
func TestLeavingADeskEndsItsCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[land]\nchecks = [\"trap '' INT TERM; echo the check has begun; exec sleep 98765\"]\n")
	w.start("one")
	w.ok(w.paw("send", "one", "add a search box"))
	w.ok(w.paw("wait", "one"))
	terminal := w.sized(120, 35, deskScript)
	terminal.awaits("TO REVIEW 1")
	terminal.press("L")
	terminal.awaits("land this work of one?")
	terminal.press("y")
	terminal.awaits("the check has begun")
	checks := func() int { return w.inside("98765") }
	waitFor(t, "it waits", func() bool { return checks() == 1 })
	terminal.press("Escape")
	terminal.awaits("? help")
	terminal.press("q")
	terminal.awaits("a command still runs: leave, and interrupt it?")
	terminal.press("y")
	terminal.awaits("left with 0", "as before")
	if checks() > 0 {
		t.Error("left a check behind")
	}
	if left := w.desks(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if out := w.run(w.repo, nil, "git", "cat-file", "-e", "main:NOTES.md"); out.code == 0 {
		t.Error("it has landed")
	}
}

// A desk ends when its terminal has gone, even if no SIGHUP arrives, as under su and sudo.
func TestDeskEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	terminal := w.sized(100, 30, "trap '' HUP; "+deskScript)
	terminal.awaits("QUIET 1", "demo agent in")
	terminal.press("s", "l", "a", "t", "e", "r", "Escape")
	waitFor(t, "the prompt is kept", func() bool {
		kept, _ := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/agents/shop/one/draft.txt"))
		return string(kept) == "later"
	})
	killServer(terminal.socket)
	waitFor(t, "no desk is left", func() bool { return len(w.desks()) == 0 })
}
