//go:build clis

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deskWorld is a desk on a terminal, with real CLIs as agents.
type deskWorld struct {
	*cliWorld
	terminal outerTerminal
	kept     int // number of screens kept so far
}

// keep writes the screen of the desk into the folder PAW_TEST_SCREENS, for people to look at.
func (d *deskWorld) keep(what string) {
	d.t.Helper()
	folder := os.Getenv("PAW_TEST_SCREENS")
	if folder == "" {
		return
	}
	d.kept++
	d.write(folder, fmt.Sprintf("%02d-%s.txt", d.kept, what), d.terminal.screen())
}

// shows waits until the desk shows all texts.
func (d *deskWorld) shows(texts ...string) {
	d.t.Helper()
	d.terminal.awaitsFor(cliPatience, texts...)
}

// list presses Esc until the desk shows the list.
func (d *deskWorld) list() {
	d.t.Helper()
	d.await("the list is there", func() bool {
		if strings.Contains(d.terminal.screen(), "q quit") {
			return true
		}
		d.terminal.press("Escape")
		return false
	})
}

// pick filters the list for one agent.
func (d *deskWorld) pick(cli string) {
	d.t.Helper()
	d.list()
	d.terminal.press("/", "C-u", cli, "Enter")
	d.shows("/"+cli, "q quit")
	d.cli = cli
}

// all removes the filter of the list.
func (d *deskWorld) all() {
	d.t.Helper()
	d.list()
	d.terminal.press("/", "C-u", "Enter")
	d.await("all agents are shown", func() bool { return !strings.Contains(d.terminal.screen(), "/"+d.cli+" ") })
}

// prompt sends a prompt to the picked agent from the desk, and waits for the turn to begin, without
// ever typing the prompt twice.
func (d *deskWorld) prompt(text string) int {
	d.t.Helper()
	before := d.last().Number
	d.terminal.press("s")
	d.shows("prompt for " + d.cli)
	d.terminal.press(text, "Enter")
	d.await("the prompt has begun a turn", func() bool { return d.last().Number > before })
	return before
}

// TestCLIsDesk uses the desk for a day with claude, codex and opencode, without leaving it: each of
// them asks for a permission and gets it; work is reviewed and commented, a turn answers the
// comment, the work lands and is taken back; tmux is killed, and all agents come back.
func TestCLIsDesk(t *testing.T) {
	clis := []string{"claude", "codex", "opencode"}
	d := &deskWorld{cliWorld: newCLIWorld(t, clis...)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the desk:\n%s\n%s", d.terminal.screen(), d.describe())
		}
	})
	d.ok(d.paw("start", "--cli", strings.Join(clis, ","), "--detach"))
	d.terminal = d.sized(120, 35, deskScript)
	d.shows("QUIET 3")
	for _, cli := range clis {
		d.cli = cli
		d.awaitState("idle")
	}
	d.keep("three-at-rest")

	for _, cli := range clis {
		if !d.during(t, cli+" asks", func(*testing.T) {
			d.pick(cli)
			before := d.prompt("do: ask touch granted.txt")
			d.shows("NEEDS YOU 1", "waits for you", "touch granted.txt")
			seen := time.Now()
			a := d.agent(cli)
			if a.State != "waiting_input" || a.StateSince == nil {
				d.t.Fatalf("it is %s since %v", a.State, a.StateSince)
			}
			d.t.Logf("%s %s: the question is on the desk %s after it was reported", cli, strings.TrimSpace(d.run(d.root, nil, cli, "--version").stdout),
				seen.Sub(*a.StateSince).Round(10*time.Millisecond))
			d.keep(cli + "-asks")
			d.terminal.press("a")
			d.shows(cli+" asks: ", "touch granted.txt", "Esc later")
			d.keep(cli + "-answers")
			d.terminal.press("y")
			d.shows(cli + `: answered "`)
			d.keep(cli + "-answered")
			d.await("the command that was allowed has run", func() bool { return d.has("granted.txt") })
			d.finished(before)
			d.shows("TO REVIEW 1")
		}) {
			return
		}
	}

	if !d.during(t, "review", func(*testing.T) {
		d.pick("claude")
		d.finished(d.prompt("do: write parser.txt one"))
		d.shows("TO REVIEW 1")
		d.terminal.press("d")
		d.shows("since you looked", "+one")
		d.keep("diff")
		d.terminal.press("/")
		d.shows("search")
		d.terminal.press("+one", "Enter", "c")
		d.shows("comment on parser.txt:1 of claude")
		d.terminal.press("do: write parser.txt two", "Enter")
		d.shows("kept")
		d.keep("commented")
		before := d.last().Number
		d.terminal.press("C")
		d.shows("send 1 comment to claude?", "do: write parser.txt two")
		d.keep("send-comments")
		d.terminal.press("y")
		one := d.finished(before)
		if !strings.Contains(one.Prompt, "parser.txt") || !strings.Contains(one.Prompt, "do: write parser.txt two") {
			d.t.Errorf("it was told %q", one.Prompt)
		}
		if got, _ := os.ReadFile(filepath.Join(d.worktree("claude"), "parser.txt")); string(got) != "two\n" {
			d.t.Errorf("the comment was answered with %q", got)
		}
		d.keep("comment-answered")
	}) {
		return
	}

	if !d.during(t, "land", func(*testing.T) {
		d.pick("claude")
		d.shows("+two")
		base := d.oid("main")
		for again := true; again; { // the diff decides what lands, and may have been read before the turn's end: then nothing lands
			d.terminal.press("L")
			d.await("paw land has an answer", func() bool {
				screen := d.terminal.screen()
				again = strings.Contains(screen, "has changed since it was shown")
				return again || strings.Contains(screen, "land this work of claude?")
			})
			if again {
				d.terminal.press("Escape")
			}
		}
		d.shows("into main")
		d.keep("land")
		d.terminal.press("y")
		d.shows("landed shop/claude")
		d.keep("landed")
		if got := d.git(d.repo, "show", "main:parser.txt"); got != "two\n" {
			d.t.Errorf("landed: %q", got)
		}
		d.pick("claude")
		d.terminal.press("U")
		d.shows("take back this landing, the last one of shop?")
		d.terminal.press("y")
		d.await("it is taken back", func() bool { return d.oid("main") == base })
		d.shows("done in")
		d.keep("undone")
	}) {
		return
	}

	if !d.during(t, "crash", func(*testing.T) {
		d.all()
		server, err := strconv.Atoi(strings.TrimSpace(d.ok(d.tmux("display-message", "-p", "#{pid}")).stdout))
		if err != nil {
			d.t.Fatal(err)
		}
		if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
			d.t.Fatal(err)
		}
		d.shows("NEEDS YOU 3", "suspended")
		d.keep("crashed")
		// A CLI whose tmux server has died takes a moment to end; until then it counts as running,
		// and recover does not start it again.
		for _, cli := range clis {
			d.cli = cli
			d.await(cli+" has ended", func() bool { return d.agent(cli).PID == nil })
		}
		d.terminal.press("1", "R")
		d.shows("recover shop: same panes, same conversations?")
		d.keep("recover")
		d.terminal.press("y")
		d.shows("resumed", "done in")
		d.keep("recovered")
		for _, cli := range clis {
			d.pick(cli)
			d.awaitState("idle")
			d.finished(d.prompt("do: write back.txt again"))
			if !d.has("back.txt") {
				d.t.Errorf("%s does not work", cli)
			}
		}
		d.all()
		d.shows("TO REVIEW 3")
		d.keep("back-at-work")
	}) {
		return
	}
	d.list()
	d.terminal.press("q")
	d.shows("left with 0", "as before")
	if left := d.desks(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
