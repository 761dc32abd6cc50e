package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/session"
	"paw/session/turn"
)

// SpawnOptions is what an agent asked of paw spawn.
type SpawnOptions struct {
	CLI    string // "[AGENT=]CLI"; "" is the CLI of the agent itself
	Prompt string
}

// Spawned is a child that was started, or that its CLI gave up at once.
type Spawned struct {
	Session *session.Session
	Child   session.Worktree
	Result  launch.Result
	Notes   []string // what the parent would otherwise miss
}

// Spawn starts a child of the agent that calls paw: a new agent with a fresh
// conversation, on a branch from the state that the caller is in now, with what it
// has not committed. The caller's own worktree stays as it is.
func Spawn(ctx context.Context, h *home.Home, o SpawnOptions) (*Spawned, error) {
	s, w, err := h.Caller("spawn", "paw add --cli "+cmp.Or(o.CLI, h.Config.DefaultCLI)+" --prompt "+fault.Quote(o.Prompt))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return nil, fault.New(fault.Usage, "the prompt is empty")
	}
	if h, err = asParent(h, s, w); err != nil {
		return nil, err
	}
	o.CLI = cmp.Or(o.CLI, w.CLI)
	if err := requireSpawning(ctx, h, s, w); err != nil {
		return nil, err
	}
	from, err := currentState(ctx, h, s, w)
	if err != nil {
		return nil, err
	}
	rec, a, err := recordChild(ctx, h, s.Name, w.Agent, from, o)
	if err != nil {
		return nil, err
	}
	child := a.draft.Worktrees[0]
	log := openTurnOf(h, s.Name, w.Agent)
	if log != nil {
		_ = log.Children([]string{child.Agent}) // the record has it, too
	}
	h.Step("spawn.logged")
	spawned, err := bringUpChild(ctx, h, rec, a, o.Prompt)
	if err != nil && log != nil {
		_ = log.Note(fmt.Sprintf("%s was not started: %v", child.Agent, err))
	}
	return spawned, err
}

// bringUpChild makes and starts the child that the record has, or takes it out
// again when it cannot be started.
func bringUpChild(ctx context.Context, h *home.Home, rec *session.Session, a *addition, prompt string) (*Spawned, error) {
	child := a.draft.Worktrees[0]
	jobs := []launch.Job{{
		Agent: child.Agent, Parent: child.Parent, Worktree: launch.WorktreeCreate, Result: launch.ResultFresh, Prompt: prompt, Notes: a.notes[child.Agent],
	}}
	saved, results, err := launch.BringUp(ctx, h, rec, jobs)
	if err != nil {
		return nil, launch.UndoAdd(h, saved, a.plans, err)
	}
	if w := saved.Worktree(child.Agent); w == nil || (results[0].Kind == launch.ResultRefused && w.Phase == session.PhaseCreating) {
		return nil, launch.UndoAdd(h, saved, a.plans, fault.New(fault.Failed, "%s: not started: %s", child.Agent, results[0].Reason))
	}
	return &Spawned{Session: saved, Child: *saved.Worktree(child.Agent), Result: results[0], Notes: cliNotes(h, &a.draft)}, nil
}

// requireSpawning refuses what cannot work, before anything is written.
func requireSpawning(ctx context.Context, h *home.Home, s *session.Session, w *session.Worktree) error {
	if err := h.RequireTools(ctx); err != nil {
		return err
	}
	if s.Status == session.StatusStopped {
		return fault.New(fault.Failed, "%s: is stopped", s.Name).Hint("paw recover %s", s.Name)
	}
	path, err := h.Config.WorktreePath(s.RepoPath, s.Name, w.Agent)
	if err != nil {
		return fault.New(fault.Usage, "%w", err)
	}
	f, err := fleet.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	dirs := append(h.OwnDirs(), s.GitCommonDir, filepath.Dir(path))
	if err := home.RequireWritable(w, dirs, f.TmuxErr, s.Tmux.Socket); err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		return home.TmuxError(f.TmuxErr)
	}
	return maySpawn(h, s, w.Agent)
}

// currentState is what an agent's worktree is like now, as the origin of a child.
// The snapshot has no ref yet: a refused spawn leaves nothing.
func currentState(ctx context.Context, h *home.Home, s *session.Session, w *session.Worktree) (*origin, error) {
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m := h.Manager(repository)
	from := &origin{Origin: session.Origin{Agent: w.Agent}, source: w, current: true}
	if last, err := h.TurnDir(s.Name, w.Agent).Last(); err == nil && last != nil {
		from.Turn = last.Number
	}
	for try := 0; ; try++ {
		if from.commit, err = m.WorktreeHead(ctx, w.WorktreePath); err != nil {
			return nil, err
		}
		shot, err := m.Snapshot(ctx, w.WorktreePath, "", "paw: "+w.Agent+" when it started another agent")
		if err != nil {
			return nil, err
		}
		head, err := m.WorktreeHead(ctx, w.WorktreePath)
		if err != nil {
			return nil, err
		}
		if head != from.commit && try < 3 {
			continue // somebody committed meanwhile
		}
		if shot.Commit != head {
			from.Snapshot = shot.Commit
		}
		for _, path := range shot.NotSaved {
			from.notes = append(from.notes, path+" is not in its worktree: git cannot save it")
		}
		return from, nil
	}
}

// recordChild plans the child and writes it into the record, unless that would be
// one too many.
func recordChild(ctx context.Context, h *home.Home, sessionName, parent string, from *origin, o SpawnOptions) (*session.Session, *addition, error) {
	s, err := h.Load(sessionName)
	if err != nil {
		return nil, nil, err
	}
	return amongOthers(ctx, h, s, func(s *session.Session) (*session.Session, *addition, error) {
		return tryRecordChild(ctx, h, s, parent, from, o)
	})
}

func tryRecordChild(ctx context.Context, h *home.Home, s *session.Session, parent string, from *origin, o SpawnOptions) (*session.Session, *addition, error) {
	add := AddOptions{CLIs: []string{o.CLI}, Prompt: o.Prompt, origin: from}
	a, err := planAddition(ctx, h, s, add, func(agents []plannedAgent) error { return requireCLIs(h, agents, o.Prompt) })
	if err != nil {
		return nil, nil, err
	}
	a.draft.Worktrees[0].Parent = parent
	rec, err := recordAddition(ctx, h, s, a, o.Prompt, func(rec *session.Session) error { return maySpawn(h, rec, parent) })
	return rec, a, err
}

// openTurnOf is the open turn of an agent, nil when there is none.
func openTurnOf(h *home.Home, sessionName, agentName string) *turn.Turn {
	last, err := h.TurnDir(sessionName, agentName).Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return nil
	}
	one, err := turn.Open(last.LogFile, h.Now)
	if err != nil {
		return nil
	}
	return one
}
