package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// SpawnOptions holds the options of paw spawn.
type SpawnOptions struct {
	CLI    string // "[AGENT=]CLI"; "" is the CLI of the calling agent
	Prompt string
}

// Spawned is a child that was started, even if its CLI ended at once.
type Spawned struct {
	Session *session.Session
	Child   session.Agent
	Result  launch.Result
	Notes   []string // notes for the parent
}

// Spawn starts a child of the agent that calls paw: a new agent with a fresh conversation, on a
// branch from the caller's current state, uncommitted changes included. The caller's own worktree
// stays as it is.
func Spawn(ctx context.Context, h *app.App, o SpawnOptions) (*Spawned, error) {
	s, w, err := h.Place().Caller("spawn", "paw add --cli "+cmp.Or(o.CLI, h.InstalledCLI(), "demo")+" --prompt "+errs.Quote(o.Prompt))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return nil, errs.New(errs.Usage, "the prompt is empty").Hint("paw spawn --help")
	}
	if h, err = launch.AsAgent(h.Agent(s, w)); err != nil {
		return nil, err
	}
	o.CLI = cmp.Or(o.CLI, w.CLI)
	if err := requireSpawning(ctx, h.Agent(s, w)); err != nil {
		return nil, err
	}
	from, err := startplan.OriginNow(ctx, h.Agent(s, w))
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
		_ = log.Children([]string{child.Name}) // the error is dropped: the record has the child too
	}
	h.Step("spawn.logged")
	spawned, err := bringUpChild(ctx, h, rec, a, o.Prompt)
	if err != nil && log != nil {
		_ = log.Note(fmt.Sprintf("%s was not started: %v", child.Name, err))
	}
	return spawned, err
}

// bringUpChild makes and starts a recorded child, or removes it from the record if it cannot be
// started.
func bringUpChild(ctx context.Context, h *app.App, rec *session.Session, a *startplan.Addition, prompt string) (*Spawned, error) {
	child := a.Draft.Agents[0]
	defer a.Making.Release()
	saved, results, err := launch.BringUp(ctx, h, rec, a.Jobs(prompt), &a.Making)
	if err != nil {
		return nil, launch.UndoAdd(h, saved, a.Plans, err)
	}
	if w := saved.Agent(child.Name); w == nil || (results[0].Kind == launch.ResultRefused && w.Phase == session.PhaseCreating) {
		return nil, launch.UndoAdd(h, saved, a.Plans, errs.New(errs.Failed, "%s: not started: %s", child.Name, results[0].Reason))
	}
	return &Spawned{Session: saved, Child: *saved.Agent(child.Name), Result: results[0], Notes: cliNotes(h, &a.Draft)}, nil
}

// requireSpawning refuses a spawn that cannot work, before anything is written.
func requireSpawning(ctx context.Context, a app.Agent) error {
	if err := a.App.RequireTools(ctx); err != nil {
		return err
	}
	if a.Session.Status == session.StatusStopped {
		return errs.New(errs.Failed, "%s: is stopped", a.Session.Name).Hint("paw recover %s", a.Session.Name)
	}
	path, err := a.App.Config.WorktreePath(a.Session.RepoPath, a.Session.Name, a.Record.Name)
	if err != nil {
		return errs.New(errs.Usage, "%w", err)
	}
	f, err := observe.Observe(ctx, a.App, a.Session)
	if err != nil {
		return err
	}
	dirs := append(a.App.OwnDirs(), a.Session.GitCommonDir, filepath.Dir(path))
	if err := app.RequireWritable(a.Record, dirs, f.TmuxErr, a.Session.Tmux.Socket); err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		return app.TmuxError(f.TmuxErr)
	}
	return maySpawn(a.App, a.Session, a.Record.Name)
}

// recordChild plans a child and writes it into the record, unless the parent has reached its limit.
func recordChild(ctx context.Context, h *app.App, sessionName, parent string, from *startplan.Origin, o SpawnOptions) (*session.Session, *startplan.Addition, error) {
	s, err := h.Load(sessionName)
	if err != nil {
		return nil, nil, err
	}
	add := startplan.Options{CLIs: []string{o.CLI}, Prompt: o.Prompt, Origin: from, Parent: parent}
	return startplan.Add(ctx, h, s, add, func(agents []session.Agent) error { return startplan.RequireCLIs(h, agents, o.Prompt) },
		func(rec *session.Session) error { return maySpawn(h, rec, parent) })
}

// openTurnOf returns the open turn of an agent, nil if there is none.
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

// spawnLimit returns an error if an agent may not have one more child; depth is that of the child,
// running are the names of the children that run or are being started.
func spawnLimit(parent string, depth int, running []string, limits config.Agents) error {
	if depth > limits.MaxDepth {
		return errs.New(errs.Refused, "%s: may not start agents: they would be at depth %d, and agents.max_depth is %d", parent, depth, limits.MaxDepth).
			Hint("paw done")
	}
	if len(running) >= limits.MaxChildren {
		return errs.New(errs.Refused, "%s: has as many children as it may, agents.max_children is %d: %s", parent, limits.MaxChildren, strings.Join(running, ", ")).
			Hint("paw wait --any").Hint("paw stop %s", running[0])
	}
	return nil
}

// maySpawn applies spawnLimit to the current children of an agent.
func maySpawn(h *app.App, s *session.Session, parent string) error {
	if _, err := app.AgentNamed(s, parent); err != nil {
		return err
	}
	open, processes := observe.OpenLaunches(h, s.Name), observe.LookAtProcesses()
	var running []string
	for _, name := range s.Children(parent) {
		lock, err := observe.Probe(h.Agent(s, s.Agent(name)), processes)
		if err != nil || lock.State != session.LockFree || s.Agent(name).Phase == session.PhaseCreating || len(open[name]) > 0 {
			running = append(running, name)
		}
	}
	return spawnLimit(parent, s.Depth(parent)+1, running, h.Config.Agents)
}

// DoneOptions holds the options of paw done.
type DoneOptions struct {
	Outcome string // one word; "" leaves the outcome to the turn
	Message string
}

// Said is the result of paw done.
type Said struct {
	Agent   string
	Turn    int  // turn that the report is about, 0 if the agent had no turn yet
	Open    bool // the turn is open until the CLI ends it
	Outcome string
}

// maxOutcome limits the length of an outcome, in bytes: it is one word of a footer.
const maxOutcome = 64

// Done records that the calling agent has finished its work, for its open turn, else for its last
// one. A later turn makes the record void.
func Done(ctx context.Context, h *app.App, o DoneOptions) (*Said, error) {
	s, w, err := h.Place().Caller("done", "paw help agents")
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Outcome, unicode.IsSpace) || len(o.Outcome) > maxOutcome {
		return nil, errs.New(errs.Usage, "--outcome %q: not a word of at most %d characters", o.Outcome, maxOutcome).Hint("paw done --help")
	}
	if err := app.RequireWritable(w, h.OwnDirs(), nil, ""); err != nil {
		return nil, err
	}
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil {
		return nil, err
	}
	said := &Said{Agent: w.Name, Outcome: o.Outcome}
	if last != nil {
		said.Turn, said.Open = last.Number, last.State == turn.InProgress
	}
	_, err = h.Update(ctx, s.Name, func(rec *session.Session) error {
		w, err := app.AgentNamed(rec, said.Agent)
		if err == nil {
			w.Done = &session.Done{Turn: said.Turn, Outcome: o.Outcome, Message: strings.TrimSpace(o.Message), At: h.Now().UTC()}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	h.Step("done.recorded")
	if cli, known := h.CLIs.Get(w.CLI); said.Open && known && cli.Facts().Unseen {
		said.Open = false
		err = turns.EndOwn(ctx, h.Agent(s, w))
	}
	if !said.Open {
		children.ClaimAfter(h, s.Name, w.Name, 0, true)
	}
	return said, err
}

// String returns what was recorded, and what the agent has left to do.
func (d *Said) String() string {
	text := d.Agent + ": done"
	if d.Turn > 0 {
		text += fmt.Sprintf(" with turn %d", d.Turn)
	}
	if d.Outcome != "" {
		text += " (" + d.Outcome + ")"
	}
	if d.Open {
		text += "; it counts from the end of this turn on, so end it now"
	}
	return text
}
