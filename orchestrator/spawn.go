package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
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
	Child   session.Agent
	Result  launch.Result
	Notes   []string // what the parent would otherwise miss
}

// Spawn starts a child of the agent that calls paw: a new agent with a fresh
// conversation, on a branch from the state that the caller is in now, with what it
// has not committed. The caller's own worktree stays as it is.
func Spawn(ctx context.Context, h *app.App, o SpawnOptions) (*Spawned, error) {
	s, w, err := h.Caller("spawn", "paw add --cli "+cmp.Or(o.CLI, h.InstalledCLI(), "demo")+" --prompt "+errs.Quote(o.Prompt))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return nil, errs.New(errs.Usage, "the prompt is empty").Hint("paw spawn --help")
	}
	if h, err = asParent(h, s, w); err != nil {
		return nil, err
	}
	o.CLI = cmp.Or(o.CLI, w.CLI)
	if err := requireSpawning(ctx, h, s, w); err != nil {
		return nil, err
	}
	from, err := startplan.OriginNow(ctx, h, s, w)
	if err != nil {
		return nil, err
	}
	rec, a, err := recordChild(ctx, h, s.Name, w.Name, from, o)
	if err != nil {
		return nil, err
	}
	child := a.Draft.Agents[0]
	log := openTurnOf(h, s.Name, w.Name)
	if log != nil {
		_ = log.Children([]string{child.Name}) // the record has it, too
	}
	h.Step("spawn.logged")
	spawned, err := bringUpChild(ctx, h, rec, a, o.Prompt)
	if err != nil && log != nil {
		_ = log.Note(fmt.Sprintf("%s was not started: %v", child.Name, err))
	}
	return spawned, err
}

// bringUpChild makes and starts the child that the record has, or takes it out
// again when it cannot be started.
func bringUpChild(ctx context.Context, h *app.App, rec *session.Session, a *startplan.Addition, prompt string) (*Spawned, error) {
	child := a.Draft.Agents[0]
	jobs := []launch.Job{{
		Agent: child.Name, Parent: child.Parent, Worktree: launch.WorktreeCreate, Result: launch.ResultFresh, Prompt: prompt, Notes: a.Notes[child.Name],
	}}
	saved, results, err := launch.BringUp(ctx, h, rec, jobs)
	if err != nil {
		return nil, launch.UndoAdd(h, saved, a.Plans, err)
	}
	if w := saved.Agent(child.Name); w == nil || (results[0].Kind == launch.ResultRefused && w.Phase == session.PhaseCreating) {
		return nil, launch.UndoAdd(h, saved, a.Plans, errs.New(errs.Failed, "%s: not started: %s", child.Name, results[0].Reason))
	}
	return &Spawned{Session: saved, Child: *saved.Agent(child.Name), Result: results[0], Notes: cliNotes(h, &a.Draft)}, nil
}

// requireSpawning refuses what cannot work, before anything is written.
func requireSpawning(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) error {
	if err := h.RequireTools(ctx); err != nil {
		return err
	}
	if s.Status == session.StatusStopped {
		return errs.New(errs.Failed, "%s: is stopped", s.Name).Hint("paw recover %s", s.Name)
	}
	path, err := h.Config.WorktreePath(s.RepoPath, s.Name, w.Name)
	if err != nil {
		return errs.New(errs.Usage, "%w", err)
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	dirs := append(h.OwnDirs(), s.GitCommonDir, filepath.Dir(path))
	if err := app.RequireWritable(w, dirs, f.TmuxErr, s.Tmux.Socket); err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		return app.TmuxError(f.TmuxErr)
	}
	return maySpawn(h, s, w.Name)
}

// recordChild plans the child and writes it into the record, unless that would be
// one too many.
func recordChild(ctx context.Context, h *app.App, sessionName, parent string, from *startplan.Origin, o SpawnOptions) (*session.Session, *startplan.Addition, error) {
	s, err := h.Load(sessionName)
	if err != nil {
		return nil, nil, err
	}
	add := startplan.Options{CLIs: []string{o.CLI}, Prompt: o.Prompt, Origin: from, Parent: parent}
	return startplan.Add(ctx, h, s, add, func(agents []startplan.Agent) error { return startplan.RequireCLIs(h, agents, o.Prompt) },
		func(rec *session.Session) error { return maySpawn(h, rec, parent) })
}

// openTurnOf is the open turn of an agent, nil when there is none.
func openTurnOf(h *app.App, sessionName, agentName string) *turn.Turn {
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
