package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// hookPatience bounds a hook beside the budget of its snapshots: a CLI waits for it.
const hookPatience = 8 * time.Second

// Hook takes one report of a CLI's hook. It never fails in the eyes of the CLI:
// what goes wrong is written into a log that doctor reads.
func (p *Paw) Hook(ctx context.Context, cliName, event string, payload []byte) {
	ctx, cancel := context.WithTimeout(ctx, hookPatience+2*time.Duration(p.Config.Turns.SnapshotSeconds)*time.Second)
	defer cancel()
	if err := p.hook(ctx, cliName, event, payload); err != nil {
		p.logHook(cliName, event, err)
	}
}

func (p *Paw) hook(ctx context.Context, cliName, event string, payload []byte) error {
	sessionName, agentName, generation, ok := parseLaunch(p.getenv("PAW_LAUNCH"))
	if !ok {
		return nil // not an agent of paw
	}
	s, err := p.Store.Load(sessionName)
	if err != nil || s == nil {
		return err
	}
	w := s.Worktree(agentName)
	cli, known := p.CLIs.Get(cliName)
	if w == nil || !known || w.CLI != cliName {
		return nil // such as another CLI, started by the agent with paw's environment
	}
	lock, err := p.Locks.ProbeAgent(sessionName, agentName)
	if err != nil {
		return err
	}
	if lock.Holder.Generation != generation {
		return nil // of a launch that is over
	}
	events, err := cli.Events(event, payload)
	if err != nil {
		return err
	}
	if !cli.Facts().ChoosesID && lock.Holder.Nested(filepath.Base(cli.Program()), os.Getppid()) {
		return nil // the agent runs its own CLI once more, with paw's environment
	}
	p.markHooks(s, w, generation)
	defer p.showOnBorder(ctx, s, agentName)
	ended, unsure, leaving := false, false, ""
	err = p.withTurns(ctx, s, w, func(t *turns) error {
		defer func() {
			ended, unsure = t.ended, t.held
			if t.joined {
				p.somethingQueued(sessionName, agentName)
			}
		}()
		for _, e := range events {
			if e.Child || foreignConversation(cli.Facts(), t.w.Conversation(), e) {
				continue
			}
			if exits(e) {
				leaving = agentName
			}
			if err := t.take(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := os.Lstat(p.queuedMark(sessionName, agentName)); unsure || ended && err == nil {
		p.follow(sessionName, agentName)
	}
	if ended || leaving != "" {
		p.claimAfter(sessionName, agentName, Claim{Leaving: leaving, Hook: os.Getpid()})
	}
	return err
}

// exits tells whether an event says that the CLI is about to end.
func exits(e turn.Event) bool {
	return e.Kind == turn.KindSessionEnd && e.Source != turn.SourceClear && e.Source != turn.SourceResume
}

// parseLaunch reads PAW_LAUNCH, "<session>/<agent>/<generation>".
func parseLaunch(text string) (sessionName, agentName string, generation int, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return "", "", 0, false
	}
	generation, err := strconv.Atoi(parts[2])
	return parts[0], parts[1], generation, err == nil
}

// foreignConversation reports whether an event belongs to another conversation than the agent's current one: a nested one,
// such as of a headless turn that the agent runs. The agent's own changes only where the CLI says that it goes on with
// another. copilot calls that a new one, as it does the first.
func foreignConversation(facts agent.Facts, current string, e turn.Event) bool {
	if !facts.ChoosesID || current == "" || e.Conversation == "" || e.Conversation == current {
		return false
	}
	if e.Kind != turn.KindSessionStart {
		return true
	}
	switch e.Source {
	case turn.SourceClear, turn.SourceResume, turn.SourceFork, turn.SourceCompact:
		return false
	}
	return !facts.OwnHooks
}

// take applies one event to the agent's turns.
func (t *turns) take(ctx context.Context, e turn.Event) error {
	last, err := t.dir.Last()
	if err != nil {
		return err
	}
	if last, e, err = t.catchUp(ctx, last, e); err != nil {
		return err
	}
	if e.Transcript != "" && e.Transcript != t.w.TranscriptPath {
		if err := t.keepTranscript(ctx, e.Transcript); err != nil {
			return err
		}
	}
	leaves := e.Kind == turn.KindSessionEnd || e.Kind == turn.KindInterrupt
	if leaves && t.w.Phase != session.PhaseLive && t.w.Phase != session.PhaseCreating {
		// paw ends this CLI: that it breaks off and says good-bye does not make it the user's interrupt.
		one, err := t.open()
		if err == nil && one != nil {
			t.abort(ctx, one, &turn.Abort{Reason: turn.ReasonStopped})
		}
		return err
	}
	if leaves && last != nil && last.State == turn.InProgress {
		if died := t.died(); died != "" {
			one, err := t.open()
			if err == nil && one != nil {
				t.abort(ctx, one, &turn.Abort{Reason: turn.ReasonCrash, Message: died})
			}
			return err
		}
	}
	return t.apply(ctx, last, e)
}

// died says what has died under a CLI that says good-bye, "" when nothing has and the good-bye is its own: the tmux
// server, or the program in front of the CLI, whose end takes the terminal along. qwen, gemini and copilot are two
// processes, of which the first only waits for the second.
func (t *turns) died() string {
	lock, err := t.p.Locks.ProbeAgent(t.s.Name, t.w.Agent)
	switch {
	case serverDied(t.s):
		return "its tmux server died"
	case err == nil && lock.Holder.PID != 0 && !lock.HolderAlive:
		return "its process was killed"
	}
	return ""
}

// serverDied reports whether the tmux server of a session has died: that ends the CLIs in its panes, which may have time
// for their good-byes.
func serverDied(s *session.Session) bool { return s.Tmux.ServerPID != 0 && !serverLives(s) }

// apply carries out what an event means.
func (t *turns) apply(ctx context.Context, last *turn.Record, e turn.Event) error {
	for _, action := range turn.Decide(last, e) {
		if err := t.do(ctx, action); err != nil {
			return fmt.Errorf("%s: %w", action.Do, err)
		}
	}
	return nil
}

func (t *turns) do(ctx context.Context, action turn.Action) error {
	switch action.Do {
	case turn.ActStart:
		start := *action.Start
		start.Launch = t.p.getenv("PAW_LAUNCH")
		if start.Launch == "" { // no hook told of it: it is of the launch of the turn before
			start.Launch = t.p.launchOf(t.s, t.w)
		}
		_, err := t.begin(ctx, start)
		return err
	case turn.ActConversation:
		return t.keepConversation(ctx, action.Text)
	case turn.ActExecute, turn.ActHold, turn.ActInput, turn.ActAnswered, turn.ActFinish, turn.ActAbort, turn.ActNote:
	}
	one, err := t.open()
	if err != nil || one == nil {
		return err
	}
	switch action.Do {
	case turn.ActExecute:
		if err := one.Joined(action.Text, action.TurnID); err != nil {
			return err
		}
		t.joined = true
		return t.heard(ctx, action.Text)
	case turn.ActInput:
		return one.Input(action.Text)
	case turn.ActAnswered:
		return one.Resumed()
	case turn.ActHold:
		return t.hold(ctx, one, action.Text)
	case turn.ActFinish:
		_, err = t.finish(ctx, one, action.Text)
		return err
	case turn.ActAbort:
		t.abort(ctx, one, action.Abort)
	case turn.ActNote:
		return one.Note(action.Text)
	case turn.ActStart, turn.ActConversation:
	}
	return nil
}

// keepConversation remembers that the agent goes on with another conversation.
func (t *turns) keepConversation(ctx context.Context, id string) error {
	if id == "" || t.w.Conversation() == id {
		return nil
	}
	_, err := t.p.update(ctx, t.s.Name, func(rec *session.Session) error {
		if w := rec.Worktree(t.w.Agent); w != nil {
			w.AddConversation(id)
		}
		return nil
	})
	t.w.AddConversation(id)
	return err
}

func (t *turns) keepTranscript(ctx context.Context, path string) error {
	_, err := t.p.update(ctx, t.s.Name, func(rec *session.Session) error {
		if w := rec.Worktree(t.w.Agent); w != nil {
			w.TranscriptPath = path
		}
		return nil
	})
	t.w.TranscriptPath = path
	return err
}
