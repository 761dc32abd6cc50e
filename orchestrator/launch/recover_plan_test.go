package launch

import (
	"errors"
	"slices"
	"testing"

	"paw/orchestrator/live"
	"paw/session"
)

// healthy is an agent whose CLI died with its server and whose conversation can be resumed.
func healthy() RecoverFacts {
	return RecoverFacts{
		sessionName: "shop", repoPath: "/r",
		record: session.Agent{Name: "claude", Branch: "paw/shop/claude", WorktreePath: "/w", Phase: session.PhaseLive, ConversationIDs: []string{"old"}},
		tmux:   session.TmuxDead, running: live.NothingRuns,
		launched: true, branchExists: true, Continuation: Continuation{Resumable: true, NewID: "new"},
	}
}

// planned is a job in one line: `AGENT: restore its worktree, resumed`, with the reason and the ways out behind that.
func planned(j Job) string {
	text := j.Agent + ": "
	if j.Worktree != WorktreeKeep {
		text += string(j.Worktree) + " its worktree, "
	}
	text += string(j.Kind)
	if j.NewID != "" {
		text += " as " + j.NewID
	}
	if j.Reason != "" {
		text += ": " + j.Reason
	}
	for _, more := range slices.Concat(j.Notes, j.Hints) {
		text += "; " + more
	}
	return text
}

func TestPlanAgent(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*RecoverFacts)
		want   string // the plan as text
	}{
		{name: "resume", change: func(*RecoverFacts) {}, want: "claude: resumed"},
		{name: "open elsewhere", change: func(f *RecoverFacts) { f.HeldBy = 77 }, want: "claude: refused: its conversation is open in pid 77, which is not paw's; ps -o pid,args -p 77"},
		{name: "alive", change: func(f *RecoverFacts) {
			f.tmux, f.running = session.TmuxAlive, live.InPane
		}, want: "claude: alive"},
		{name: "alive, and its worktree is gone", change: func(f *RecoverFacts) {
			f.tmux, f.running, f.worktreeMissing = session.TmuxAlive, live.InPane, true
		}, want: "claude: refused: it runs, and its worktree is gone; paw stop shop claude --only && paw recover shop"},
		{name: "orphan without pane", change: func(f *RecoverFacts) { f.running, f.pid = live.Paneless, 77 }, want: "claude: refused: pid 77 still runs outside of tmux; paw stop shop claude --only && paw recover shop"},
		{name: "orphan with dead pane", change: func(f *RecoverFacts) {
			f.tmux, f.running, f.pid = session.TmuxAlive, live.Paneless, 77
		}, want: "claude: refused: pid 77 still runs outside of tmux; paw stop shop claude --only && paw recover shop"},
		{name: "of another machine", change: func(f *RecoverFacts) { f.running, f.pid = live.Elsewhere, 77 }, want: "claude: refused: it runs on another machine, which has this home as well; paw status shop"},
		{name: "orphan that is not known", change: func(f *RecoverFacts) { f.running = live.Paneless }, want: "claude: refused: something that it started still runs outside of tmux and holds its lock; paw recover shop"},
		{name: "tmux silent", change: func(f *RecoverFacts) {
			f.tmux, f.running, f.tmuxReason = session.TmuxUnknown, live.Unseen, "tmux did not answer"
		}, want: "claude: refused: tmux did not answer; paw status shop"},
		{name: "tmux silent, lock held", change: func(f *RecoverFacts) {
			f.tmux, f.running, f.tmuxReason = session.TmuxUnknown, live.RunningUnseen, "tmux did not answer"
		}, want: "claude: refused: tmux did not answer; paw status shop"},
		{name: "lock unreadable", change: func(f *RecoverFacts) { f.running = live.LockUnreadable }, want: "claude: refused: its lock cannot be read; paw doctor"},
		{name: "starting", change: func(f *RecoverFacts) {
			f.tmux, f.running = session.TmuxAlive, live.Starting
		}, want: "claude: alive: starting"},
		{name: "being made", change: func(f *RecoverFacts) {
			f.record.Phase, f.launched, f.running, f.making = session.PhaseCreating, false, live.Making, "its worktree is being made"
		}, want: "claude: alive: its worktree is being made"},
		{name: "foreign process in its pane", change: func(f *RecoverFacts) { f.tmux, f.running = session.TmuxAlive, live.Foreign }, want: "claude: resumed"},
		{name: "dead pane", change: func(f *RecoverFacts) { f.tmux = session.TmuxAlive }, want: "claude: resumed"},
		{name: "CLI not installed", change: func(f *RecoverFacts) { f.cliError = errors.New("claude: not installed") }, want: "claude: refused: not installed"},
		{name: "stopped", change: func(f *RecoverFacts) { f.record.Phase = session.PhaseStopped }, want: "claude: stopped: paw recover shop brings it back"},
		{name: "stopped, named", change: func(f *RecoverFacts) { f.record.Phase, f.named = session.PhaseStopped, true }, want: "claude: resumed"},
		{name: "left by the user", change: func(f *RecoverFacts) { f.exited = true }, want: "claude: completed: exited; paw recover shop brings it back"},
		{name: "left by the user, named", change: func(f *RecoverFacts) { f.exited, f.named = true, true }, want: "claude: resumed"},
		{name: "left by the user and its CLI is gone", change: func(f *RecoverFacts) { f.exited, f.cliError = true, errors.New("not installed") }, want: "claude: completed: exited; paw recover shop brings it back"},
		{name: "stopped but runs, named", change: func(f *RecoverFacts) {
			f.record.Phase, f.named, f.tmux, f.running = session.PhaseStopped, true, session.TmuxAlive, live.InPane
		}, want: "claude: alive"},
		{name: "never made", change: func(f *RecoverFacts) {
			f.record.Phase, f.launched, f.worktreeMissing, f.branchExists, f.Resumable, f.KeepID = session.PhaseCreating, false, true, false, false, true
		}, want: "claude: create its worktree, fresh"},
		{name: "half made", change: func(f *RecoverFacts) {
			f.record.Phase, f.launched, f.worktreeWrong, f.Resumable, f.KeepID = session.PhaseCreating, false, "no .git file", false, true
		}, want: "claude: create its worktree, fresh"},
		{name: "launched but not recorded", change: func(f *RecoverFacts) { f.record.Phase = session.PhaseCreating }, want: "claude: resumed"},
		{name: "worktree gone", change: func(f *RecoverFacts) { f.worktreeMissing = true }, want: "claude: restore its worktree, resumed"},
		{name: "worktree and branch gone", change: func(f *RecoverFacts) { f.worktreeMissing, f.branchExists = true, false }, want: "claude: refused: its worktree /w and its branch paw/shop/claude are gone; git -C /r branch paw/shop/claude && paw recover shop"},
		{name: "worktree and branch gone, last commit known", change: func(f *RecoverFacts) {
			f.worktreeMissing, f.branchExists, f.lastCommit = true, false, "abc"
		}, want: "claude: refused: its worktree /w and its branch paw/shop/claude are gone; git -C /r branch paw/shop/claude abc && paw recover shop"},
		{name: "branch gone beneath its worktree", change: func(f *RecoverFacts) {
			f.onBranch, f.branchExists, f.lastCommit = true, false, "abc"
		}, want: "claude: refused: its branch paw/shop/claude is gone; git -C /r branch paw/shop/claude abc && paw recover shop"},
		{name: "branch gone, worktree on another", change: func(f *RecoverFacts) { f.branchExists = false }, want: "claude: resumed"},
		{name: "alive on a branch that is gone", change: func(f *RecoverFacts) {
			f.tmux, f.running, f.onBranch, f.branchExists = session.TmuxAlive, live.InPane, true, false
		}, want: "claude: alive"},
		{name: "worktree gone, branch elsewhere", change: func(f *RecoverFacts) { f.worktreeMissing, f.branchAt = true, "/x" }, want: "claude: refused: its worktree is gone and its branch paw/shop/claude is checked out in /x; git -C /x switch --detach && paw recover shop"},
		{name: "worktree moved", change: func(f *RecoverFacts) { f.worktreeMissing, f.branchAt, f.moved = true, "/x y", true }, want: "claude: refused: its worktree was moved to /x y; git -C /r worktree move -f -f '/x y' /w && paw recover shop"},
		{name: "branch elsewhere, worktree there", change: func(f *RecoverFacts) { f.branchAt = "/x" }, want: "claude: resumed"},
		{name: "not its worktree", change: func(f *RecoverFacts) { f.worktreeWrong, f.wayBack = "/w: no .git file", []string{"a way back"} }, want: "claude: refused: /w: no .git file; a way back"},
		{name: "unlinked, seen by a dry run", change: func(f *RecoverFacts) { f.worktreeWrong, f.unlinked = "/w: no .git file", true }, want: "claude: resumed; its worktree would be linked to the repository again"},
		{name: "no conversation", change: func(f *RecoverFacts) { f.Resumable, f.FreshReason = false, "it had no conversation yet" }, want: "claude: fresh as new: it had no conversation yet"},
		{name: "headless turn, named", change: func(f *RecoverFacts) {
			f.tmux, f.running, f.headless, f.named = session.TmuxAlive, live.Headless, "a headless turn runs (pid 42)", true
		}, want: "claude: refused: a headless turn runs (pid 42); paw stop shop claude --only && paw recover shop"},
		{name: "half made for headless turns", change: func(f *RecoverFacts) { f.record.Phase, f.record.Headless = session.PhaseCreating, true },
			want: "claude: create its worktree, stopped: paw run claude uses it without a pane"},
		{name: "half made for headless turns, named", change: func(f *RecoverFacts) {
			f.record.Phase, f.record.Headless, f.named, f.launched, f.Resumable, f.KeepID = session.PhaseCreating, true, true, false, false, true
		}, want: "claude: create its worktree, fresh"},
		{name: "unused conversation", change: func(f *RecoverFacts) { f.Resumable, f.KeepID = false, true }, want: "claude: fresh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := healthy()
			c.change(&f)
			j := planAgent(f)
			if got := planned(j); got != c.want {
				t.Errorf("plans %q, want %q", got, c.want)
			}
			if j.Kind == ResultRefused && (j.Reason == "" || len(j.Hints) == 0) && f.cliError == nil {
				t.Errorf("refused without reason or way out: %+v", j)
			}
			if j.Prompt != "" {
				t.Error("recover sends a prompt")
			}
		})
	}
}

// Whatever the facts: an agent whose lock is held, or of which tmux says
// nothing, is never started; and nothing runs in a directory that is not its worktree.
func TestPlanAgentNeverStartsTwiceOrElsewhere(t *testing.T) {
	bools := []bool{false, true}
	for _, tmuxState := range []session.Liveness{session.TmuxAlive, session.TmuxDead, session.TmuxUnknown} {
		for running := live.NothingRuns; running <= live.LockUnreadable; running++ {
			for _, wrong := range []string{"", "no .git file"} {
				for _, missing := range bools {
					for _, launched := range bools {
						for _, phase := range []session.Phase{session.PhaseCreating, session.PhaseLive, session.PhaseStopped} {
							f := healthy()
							f.tmux, f.running, f.worktreeWrong, f.worktreeMissing, f.launched, f.record.Phase = tmuxState, running, wrong, missing, launched, phase
							j := planAgent(f)
							if j.Starts() && (tmuxState == session.TmuxUnknown || !running.Free()) {
								t.Fatalf("%+v starts with tmux %s and %d", j, tmuxState, running)
							}
							if j.Starts() && (wrong != "" || missing) && j.Worktree == WorktreeKeep {
								t.Fatalf("%+v starts without a worktree", j)
							}
						}
					}
				}
			}
		}
	}
}
