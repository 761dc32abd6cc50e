package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

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
	Result  Result
	Notes   []string // what the parent would otherwise miss
}

// Spawn starts a child of the agent that calls paw: a new agent with a fresh
// conversation, on a branch from the state that the caller is in now, with what it
// has not committed. The caller's own worktree stays as it is.
func (p *Paw) Spawn(ctx context.Context, o SpawnOptions) (*Spawned, error) {
	s, w, err := p.caller("spawn", "paw add --cli "+cmp.Or(o.CLI, p.Config.DefaultCLI)+" --prompt "+Quote(o.Prompt))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return nil, failf(KindUsage, "the prompt is empty")
	}
	if p, err = p.asParent(s, w); err != nil {
		return nil, err
	}
	o.CLI = cmp.Or(o.CLI, w.CLI)
	if err := p.requireSpawning(ctx, s, w); err != nil {
		return nil, err
	}
	from, err := p.currentState(ctx, s, w)
	if err != nil {
		return nil, err
	}
	rec, a, err := p.recordChild(ctx, s.Name, w.Agent, from, o)
	if err != nil {
		return nil, err
	}
	child := a.draft.Worktrees[0]
	log := p.openTurnOf(s.Name, w.Agent)
	if log != nil {
		_ = log.Children([]string{child.Agent}) // the record has it, too
	}
	p.Step("spawn.logged")
	spawned, err := p.bringUpChild(ctx, rec, a, o.Prompt)
	if err != nil && log != nil {
		_ = log.Note(fmt.Sprintf("%s was not started: %v", child.Agent, err))
	}
	return spawned, err
}

// bringUpChild makes and starts the child that the record has, or takes it out
// again when it cannot be started.
func (p *Paw) bringUpChild(ctx context.Context, rec *session.Session, a *addition, prompt string) (*Spawned, error) {
	child := a.draft.Worktrees[0]
	jobs := []job{{
		agent: child.Agent, parent: child.Parent, worktree: worktreeCreate, result: ResultFresh, prompt: prompt, notes: a.notes[child.Agent],
	}}
	saved, results, err := p.bringUp(ctx, rec, jobs)
	if err != nil {
		return nil, p.undoAdd(saved, a.plans, err)
	}
	if w := saved.Worktree(child.Agent); w == nil || (results[0].Kind == ResultRefused && w.Phase == session.PhaseCreating) {
		return nil, p.undoAdd(saved, a.plans, failf(KindError, "%s: not started: %s", child.Agent, results[0].Reason))
	}
	return &Spawned{Session: saved, Child: *saved.Worktree(child.Agent), Result: results[0], Notes: p.cliNotes(&a.draft)}, nil
}

// requireSpawning refuses what cannot work, before anything is written.
func (p *Paw) requireSpawning(ctx context.Context, s *session.Session, w *session.Worktree) error {
	if err := p.requireTools(ctx); err != nil {
		return err
	}
	if s.Status == session.StatusStopped {
		return failf(KindError, "%s: is stopped", s.Name).hint("paw recover %s", s.Name)
	}
	path, err := p.Config.WorktreePath(s.RepoPath, s.Name, w.Agent)
	if err != nil {
		return failf(KindUsage, "%w", err)
	}
	f, err := p.observe(ctx, s)
	if err != nil {
		return err
	}
	dirs := append(p.ownDirs(), s.GitCommonDir, filepath.Dir(path))
	if err := requireWritable(w, dirs, f.tmuxErr, s.Tmux.Socket); err != nil {
		return err
	}
	if f.tmux == session.TmuxUnknown {
		return tmuxError(f.tmuxErr)
	}
	return p.maySpawn(s, w.Agent)
}

// currentState is what an agent's worktree is like now, as the origin of a child.
// The snapshot has no ref yet: a refused spawn leaves nothing.
func (p *Paw) currentState(ctx context.Context, s *session.Session, w *session.Worktree) (*origin, error) {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m := p.manager(repository)
	from := &origin{Origin: session.Origin{Agent: w.Agent}, source: w, current: true}
	if last, err := p.turnDir(s.Name, w.Agent).Last(); err == nil && last != nil {
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
func (p *Paw) recordChild(ctx context.Context, sessionName, parent string, from *origin, o SpawnOptions) (*session.Session, *addition, error) {
	s, err := p.load(sessionName)
	if err != nil {
		return nil, nil, err
	}
	return p.amongOthers(ctx, s, func(s *session.Session) (*session.Session, *addition, error) {
		return p.tryRecordChild(ctx, s, parent, from, o)
	})
}

func (p *Paw) tryRecordChild(ctx context.Context, s *session.Session, parent string, from *origin, o SpawnOptions) (*session.Session, *addition, error) {
	add := AddOptions{CLIs: []string{o.CLI}, Prompt: o.Prompt, origin: from}
	a, err := p.planAddition(ctx, s, add, func(agents []plannedAgent) error { return p.requireCLIs(agents, o.Prompt) })
	if err != nil {
		return nil, nil, err
	}
	a.draft.Worktrees[0].Parent = parent
	rec, err := p.recordAddition(ctx, s, a, o.Prompt, func(rec *session.Session) error { return p.maySpawn(rec, parent) })
	return rec, a, err
}

// openTurnOf is the open turn of an agent, nil when there is none.
func (p *Paw) openTurnOf(sessionName, agentName string) *turn.Turn {
	last, err := p.turnDir(sessionName, agentName).Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return nil
	}
	one, err := turn.Open(last.LogFile, p.Now)
	if err != nil {
		return nil
	}
	return one
}
