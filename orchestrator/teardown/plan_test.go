package teardown

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// shop is a session with agents of these names, and what was found of them: each runs in a pane.
func shop(names ...string) observe.Facts {
	s := &session.Session{Name: "shop", Status: session.StatusActive, RepoPath: "/src/shop", Tmux: session.Tmux{Session: "paw-shop"}}
	f := observe.Facts{Session: s, Tmux: session.TmuxAlive}
	for i, name := range names {
		w := session.Agent{Name: name, CLI: "demo", Branch: "paw/shop/" + name, WorktreePath: "/w/" + name, TurnSession: "shop_" + name, Phase: session.PhaseLive}
		s.Agents = append(s.Agents, w)
		f.Agents = append(f.Agents, observe.Agent{
			Record: w, Pane: &tmux.Pane{ID: "%" + string(rune('1'+i))},
			Lock: session.AgentLock{State: session.LockHeld, Holder: session.Holder{PID: 100 + i}, HolderAlive: true},
		})
	}
	return f
}

// off makes an agent one that does not run.
func off(a *observe.Agent) { a.Pane, a.Lock = nil, session.AgentLock{State: session.LockFree} }

// found is what a look at an agent of the session finds whose worktree is clean.
func found(f observe.Facts, name string) Agent {
	a := agentOf(&app.App{}, f, name, Options{})
	a.there = true
	return a
}

// text is what a plan or a refusal says.
func text(plan interface{ String() string }, err error) string {
	if err != nil {
		return "refused: " + err.Error()
	}
	return plan.String()
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStopAgainEndsNoMore(t *testing.T) {
	s := &session.Session{Name: "shop"}
	compare(t, Stop{Session: s, Whole: true}.again([]string{"one", "two"}), "paw stop shop")
	compare(t, Stop{Session: s}.again([]string{"two"}), "paw stop shop two --only")
}

func TestPlanStop(t *testing.T) {
	code := 0
	for name, c := range map[string]struct {
		change func(*observe.Facts)
		o      StopOptions
		want   string
	}{
		"the whole session": {want: "one: close pane %1 and end pid 100\ntwo: close pane %2 and end pid 101"},
		"one agent":         {o: StopOptions{Agents: []string{"two"}}, want: "two: close pane %2 and end pid 101"},
		"in a turn": {o: StopOptions{Agents: []string{"one"}}, change: func(f *observe.Facts) {
			f.Agents[0].Turns.Last = &turn.Record{Number: 4, State: turn.InProgress}
		}, want: "one: close pane %1 and end pid 100\none: close turn 4, which is open, as stopped"},
		"between turns": {o: StopOptions{Agents: []string{"one"}}, change: func(f *observe.Facts) {
			f.Agents[0].Turns.Last = &turn.Record{Number: 4, State: turn.Finished}
		}, want: "one: close pane %1 and end pid 100"},
		"without a pane": {change: func(f *observe.Facts) { f.Agents[0].Pane = nil; off(&f.Agents[1]) },
			want: "one: end pid 100, which has no pane\ntwo: is stopped"},
		"one that has ended": {o: StopOptions{Agents: []string{"one"}}, change: func(f *observe.Facts) {
			f.Agents[0].Lock.State, f.Agents[0].Pane.Dead, f.Agents[0].Pane.ExitCode = session.LockFree, true, &code
		}, want: "one: close pane %1"},
		"with children": {o: StopOptions{Agents: []string{"one"}}, change: func(f *observe.Facts) { f.Session.Agents[1].Parent = "one" },
			want: "one: close pane %1 and end pid 100\ntwo: close pane %2 and end pid 101"},
		"only the parent": {o: StopOptions{Agents: []string{"one"}, Only: true}, change: func(f *observe.Facts) { f.Session.Agents[1].Parent = "one" },
			want: "one: close pane %1 and end pid 100\ntwo: runs on"},
		"the user's window, beside an agent": {o: StopOptions{Agents: []string{"one"}}, change: func(f *observe.Facts) { f.Others = []tmux.Pane{{WindowIndex: "2"}} },
			want: "one: close pane %1 and end pid 100"},
		"the user's window, and the last agent": {o: StopOptions{Agents: []string{"one"}}, change: func(f *observe.Facts) {
			f.Others = []tmux.Pane{{WindowIndex: "2", WindowName: "notes", SessionName: "renamed"}, {WindowIndex: "2", WindowName: "notes", SessionName: "renamed"}}
			off(&f.Agents[1])
		},
			want: "one: close pane %1 and end pid 100\nwindow 2 (notes) of tmux session renamed is yours and stays"},
		"silence": {change: func(f *observe.Facts) { f.Tmux, f.TmuxErr = session.TmuxUnknown, tmux.ErrTimeout },
			want: "refused: shop: tmux did not answer in time; its panes may still run"},
		"no tmux": {change: func(f *observe.Facts) { f.Tmux, f.TmuxErr = session.TmuxUnknown, tmux.ErrNotInstalled },
			want: "refused: shop: tmux is not on the PATH of this shell, and agents may still run"},
		"stopped before": {change: func(f *observe.Facts) {
			f.Session.Status = session.StatusStopped
			off(&f.Agents[0])
			off(&f.Agents[1])
		}, want: "shop is stopped already; paw recover shop brings it back"},
		"stopped before, and one goes on": {change: func(f *observe.Facts) { f.Session.Status = session.StatusStopped; off(&f.Agents[0]) },
			want: "one: is stopped\ntwo: close pane %2 and end pid 101"},
		"a stop that was cut short": {change: func(f *observe.Facts) {
			f.Session.Status = session.StatusStopped
			off(&f.Agents[0])
			off(&f.Agents[1])
			f.Agents[1].Record.Phase = session.PhaseStopping
		}, want: "one: is stopped\ntwo: is stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			f := shop("one", "two")
			if c.change != nil {
				c.change(&f)
			}
			p, err := PlanStop(f, c.o)
			compare(t, text(p, err), c.want)
		})
	}
}

func TestPlanStopRecordsHowTheyWereFound(t *testing.T) {
	code, failed := 0, 1
	f := shop("runs", "left", "died")
	for i, exit := range []*int{nil, &code, &failed} {
		if exit != nil {
			f.Agents[i].Lock.State, f.Agents[i].Pane.Dead, f.Agents[i].Pane.ExitCode = session.LockFree, true, exit
		}
	}
	p, err := PlanStop(f, StopOptions{})
	var phases []session.Phase
	for _, e := range p.Agents {
		phases = append(phases, e.Phase)
	}
	if want := []session.Phase{session.PhaseStopped, session.PhaseExited, session.PhaseStopped}; err != nil || !slices.Equal(phases, want) {
		t.Errorf("%v, %v, want %v", phases, err, want)
	}
}

func TestPlanAgent(t *testing.T) {
	dirty := worktree.Seen{Dirt: worktree.Dirt{Untracked: []string{"work.txt"}}}
	for name, c := range map[string]struct {
		change func(*Agent)
		o      Options
		want   string
	}{
		"clean":        {want: "one: close pane %1 and end pid 100\none: delete its worktree /w/one"},
		"does not run": {change: func(f *Agent) { f.End = Ended{} }, want: "one: delete its worktree /w/one"},
		"dirty":        {change: func(f *Agent) { f.seen = dirty }, want: "refused: one has 1 untracked file (work.txt)"},
		"dirty, and kept": {change: func(f *Agent) { f.seen = dirty }, o: Options{KeepWorktree: true},
			want: "one: close pane %1 and end pid 100\none: leave its worktree /w/one where it is, no longer paw's"},
		"dirty, by force": {change: func(f *Agent) { f.seen = dirty; f.End = Ended{} }, o: Options{Force: true}, want: `
one: save its files, with 1 untracked file (work.txt), in a commit under refs/paw/shop_one/rescue/
one: move its worktree /w/one to the trash folder`},
		"clean, by force": {change: func(f *Agent) { f.End = Ended{} }, o: Options{Force: true}, want: "one: delete its worktree /w/one"},
		"clean with ignored folders, by force": {change: func(f *Agent) { f.seen.Aside = []string{"build/"}; f.End = Ended{} }, o: Options{Force: true},
			want: "one: move its worktree /w/one to the trash folder, because of what git does not have: build/"},
		"unreadable": {change: func(f *Agent) { f.unseen = errors.New("no index") }, want: "refused: one: not removed, its state cannot be read: no index"},
		"unreadable, by force": {change: func(f *Agent) { f.unseen = errors.New("no index"); f.End = Ended{} }, o: Options{Force: true}, want: `
one: save its files in a commit under refs/paw/shop_one/rescue/
one: move its worktree /w/one to the trash folder`},
		"with ignored folders": {change: func(f *Agent) { f.seen.Aside = []string{"build/", "tmp/"}; f.End = Ended{} },
			want: "one: move its worktree /w/one to the trash folder, because of what git does not have: build/, tmp/"},
		"half made":           {change: func(f *Agent) { f.halfMade = true; f.End = Ended{} }, want: "one: move its worktree /w/one to the trash folder"},
		"half made, by force": {change: func(f *Agent) { f.halfMade = true; f.End = Ended{} }, o: Options{Force: true}, want: "one: move its worktree /w/one to the trash folder"},
		"gone":                {change: func(f *Agent) { f.there = false; f.End = Ended{} }, want: "one: its worktree /w/one is gone"},
		"gone, by force":      {change: func(f *Agent) { f.missing = true; f.End = Ended{} }, o: Options{Force: true}, want: "one: its worktree /w/one is gone"},
		"somebody else's": {change: func(f *Agent) {
			f.wrong = errs.New(errs.Refused, "one: not removed: the main worktree is never removed")
		},
			o: Options{Force: true}, want: "refused: one: not removed: the main worktree is never removed"},
		"somebody else's, and kept": {change: func(f *Agent) { f.wrong = errors.New("not its worktree"); f.End = Ended{} }, o: Options{KeepWorktree: true},
			want: "one: leave its worktree /w/one where it is, no longer paw's"},
		"with children": {change: func(f *Agent) { f.Children = []string{"two", "three"}; f.End = Ended{} },
			want: "one: delete its worktree /w/one\none: the agents that it has started stay: two, three"},
	} {
		t.Run(name, func(t *testing.T) {
			f := found(shop("one"), "one")
			if c.change != nil {
				c.change(&f)
			}
			p, err := f.planned(c.o)
			compare(t, text(p, err), c.want)
		})
	}
}

func TestPlanBranches(t *testing.T) {
	branch := func(name string, change func(*Branch)) Branch {
		f := Branch{Agent: name, Name: name, made: true, Tip: "c-" + name}
		change(&f)
		return f
	}
	var lines []string
	for _, b := range planBranches([]Branch{
		branch("yours", func(f *Branch) { f.made, f.inHead = false, true }),
		branch("merged", func(f *Branch) { f.inHead = true }),
		branch("used", func(f *Branch) { f.inHead, f.holder = true, "/w/other" }),
		branch("landed", func(f *Branch) { f.landed = "c-landing" }),
		branch("own", func(*Branch) {}),
		branch("none", func(f *Branch) { f.Tip = "" }),
		branch("unread", func(f *Branch) { f.err = errors.New("no refs") }),
		branch("remote", func(f *Branch) { f.also = []string{"refs/heads/remote", "refs/remotes/origin/x"} }),
		branch("tagged", func(f *Branch) { f.also = []string{"refs/tags/afk-shop_tagged-1"} }),
		// Two of the same commits: one of them stays.
		branch("twin_a", func(f *Branch) { f.also = []string{"refs/heads/twin_a", "refs/heads/twin_b"} }),
		branch("twin_b", func(f *Branch) { f.also = []string{"refs/heads/twin_a", "refs/heads/twin_b"} }),
		// A branch that goes because it has landed keeps nothing for another.
		branch("below", func(f *Branch) { f.also = []string{"refs/heads/landed"} }),
	}) {
		lines = append(lines, b.line())
	}
	compare(t, strings.Join(lines, "\n"), `
keep branch below: not merged
delete branch landed: it has landed
delete branch merged: HEAD has it
keep branch own: not merged
delete branch remote: refs/remotes/origin/x has it
keep branch tagged: not merged
delete branch twin_a: refs/heads/twin_b has it
keep branch twin_b: not merged
keep branch unread: no refs
keep branch used: checked out at /w/other
keep branch yours: paw did not make it`)
}

func TestPlanPurge(t *testing.T) {
	refs := map[string]string{
		"refs/tags/afk-shop_one-0": "c0", "refs/tags/afk-shop_one-1": "c1", "refs/tags/afk-shop_one-10": "c2", "refs/tags/afk-shop_two-0": "c0",
		"refs/paw/shop_one/owner": "b", "refs/paw/shop_one/turn/1": "s1", "refs/paw/shop_one/rescue/20260101T000000Z": "r",
		"refs/tags/afk-shop_one_b-1": "c9", "refs/tags/afk-shop_one-x": "c9", // of another, and of nobody
	}
	for name, c := range map[string]struct {
		change func(*Purge, *observe.Facts)
		o      Options
		want   string
	}{
		"all clean": {want: `
one: delete its worktree /w/one
two: close pane %2 and end pid 101
two: delete its worktree /w/two
delete branch paw/shop/one: HEAD has it
keep branch paw/shop/two: not merged
keep 3 tags, afk-shop_one-0 to afk-shop_one-10
keep 2 refs under refs/paw/shop_one/
keep refs/paw/shop_one/rescue/20260101T000000Z: it holds work that was rescued
keep tag afk-shop_two-0
delete the record of shop`},
		"with tags": {o: Options{Tags: true}, want: `
one: delete its worktree /w/one
two: close pane %2 and end pid 101
two: delete its worktree /w/two
delete branch paw/shop/one: HEAD has it
keep branch paw/shop/two: not merged
delete 3 tags, afk-shop_one-0 to afk-shop_one-10
delete 2 refs under refs/paw/shop_one/
keep refs/paw/shop_one/rescue/20260101T000000Z: it holds work that was rescued
delete tag afk-shop_two-0
delete the record of shop
delete the logs of its turns`},
		"with tags, by force": {o: Options{Tags: true, Force: true}, change: func(p *Purge, _ *observe.Facts) { p.Agents, p.Checks = p.Agents[:1], "/w/_check" }, want: `
one: delete its worktree /w/one
delete branch paw/shop/one: HEAD has it
keep branch paw/shop/two: not merged
delete the place where checks ran, /w/_check; what git does not have goes to the trash folder
delete 3 tags, afk-shop_one-0 to afk-shop_one-10
delete 3 refs under refs/paw/shop_one/
delete tag afk-shop_two-0
delete the record of shop
delete the logs of its turns`},
		"one is dirty": {change: func(p *Purge, _ *observe.Facts) { p.Agents[1].seen.Uncommitted = []string{"a.go"} }, want: "refused: two has 1 uncommitted file (a.go)"},
		"both are dirty": {change: func(p *Purge, _ *observe.Facts) {
			p.Agents[0].seen.Untracked, p.Agents[1].seen.Uncommitted = []string{"b.go"}, []string{"a.go"}
		}, want: "refused: one has 1 untracked file (b.go); two has 1 uncommitted file (a.go)"},
		"silence": {change: func(_ *Purge, f *observe.Facts) { f.Tmux, f.TmuxErr = session.TmuxUnknown, tmux.ErrTimeout },
			want: "refused: shop: tmux did not answer in time; its panes may still run"},
		"a landing was cut short": {change: func(p *Purge, _ *observe.Facts) {
			p.Landings, p.Agents, p.Branches, p.Turns = []string{"landing 2 of shop/one"}, nil, nil, nil
		}, want: `
finish landing 2 of shop/one, which was cut short
delete the record of shop`},
		"the repository is gone": {change: func(p *Purge, _ *observe.Facts) {
			*p = Purge{Session: p.Session, Name: p.Name, Gone: "/src/shop", Stay: []string{"/w/one"}}
		}, want: `
keep /w/one: without the repository nobody can say what would be lost with it
delete the record of shop`},
	} {
		t.Run(name, func(t *testing.T) {
			f := shop("one", "two")
			off(&f.Agents[0])
			p := Purge{Session: f.Session, Name: "shop", options: c.o, Agents: []Agent{found(f, "one"), found(f, "two")}, Branches: []Branch{
				{Agent: "one", Name: "paw/shop/one", made: true, Tip: "c1", inHead: true}, {Agent: "two", Name: "paw/shop/two", made: true, Tip: "c2"},
			}, Turns: planTurns("shop", []string{"one", "two"}, refs, nil, c.o.Force)}
			if c.change != nil {
				c.change(&p, &f)
			}
			p, err := p.planned(f)
			compare(t, text(p, err), c.want)
		})
	}
}

// What was seen before a stop still counts after it only where nothing was there to be ended.
func TestEndedNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*observe.Facts)
		want   bool
	}{
		"all have ended":  {func(*observe.Facts) {}, true},
		"no server":       {func(f *observe.Facts) { f.Tmux = session.TmuxDead }, true},
		"tmux is silent":  {func(f *observe.Facts) { f.Tmux = session.TmuxUnknown }, false},
		"a dead pane":     {func(f *observe.Facts) { f.Agents[1].Pane = &tmux.Pane{ID: "%7", Dead: true} }, false},
		"one runs":        {func(f *observe.Facts) { f.Agents[1].Lock.State = session.LockHeld }, false},
		"a lock is weird": {func(f *observe.Facts) { f.Agents[0].Lock.State = session.LockUnknown }, false},
	} {
		f := shop("one", "two")
		off(&f.Agents[0])
		off(&f.Agents[1])
		c.change(&f)
		if got := (Stop{facts: f}).endedNothing(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
