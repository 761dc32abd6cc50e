package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Started is the result of start, or with --dry-run its plan.
type Started struct {
	Session *session.Session
	Results []launch.Result // one result per agent
	Notes   []string        // notes for the user
	Plan    []string        // the steps, for --dry-run
}

// startTries bounds the attempts to find a free session name when the user gave none: each failed
// attempt means that another paw has taken the name.
const startTries = 20

// Start makes a new session: a branch, a worktree and a pane for each agent. It checks all that can
// be refused before the first side effect. If another process takes the name meanwhile, Start picks
// another one, unless the user gave the name.
func Start(ctx context.Context, h *app.App, o StartOptions) (*Started, error) {
	o, err := applyPreset(o, h.Config.Presets)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		started, err := startOnce(ctx, h, o)
		var taken *session.TakenError
		if o.Name != "" || try == startTries || !errors.Is(err, turns.ErrNameTaken) && !errors.As(err, &taken) {
			return started, err
		}
	}
}

func startOnce(ctx context.Context, h *app.App, o StartOptions) (*Started, error) {
	agents, err := startplan.Agents(o.CLIs, o.Branches, h.CLIs, nil)
	if err != nil {
		return nil, err
	}
	if o.Name != "" {
		if err := session.ValidateName("session", o.Name); err != nil {
			return nil, errs.New(errs.Usage, "%w", err)
		}
	}
	if err := h.RequireTools(ctx); err != nil {
		return nil, err
	}
	if err := startplan.RequireCLIs(h, agents, o.Prompt); err != nil {
		return nil, err
	}
	if o.DryRun && becomesRepository(h.Dir) {
		return planInEmpty(ctx, h, o, agents)
	}
	a, err := recordStart(ctx, h, o, agents)
	if err != nil {
		return nil, err
	}
	defer a.Making.Release()
	a.Waits = o.WaitSetUp
	started := &Started{Session: &a.Draft}
	told := notes(ctx, h, a.Manager, &a.Draft, a.Handed, o.HideTags && !o.DryRun)
	defer func() { started.Notes = told() }()
	if o.DryRun {
		started.Plan = append(startplan.Describe(&a.Draft, a.Plans), a.Handed.Steps()...)
		return started, nil
	}
	h.Step("start.recorded")
	s, results, err := launch.BringUp(ctx, h, &a.Draft, a.Jobs(o.Prompt), &a.Making)
	if err != nil {
		return nil, launch.UndoStart(h, s, a.Plans, err)
	}
	started.Session, started.Results = s, results
	return started, nil
}

// recordStart plans a session and writes it down. It keeps concurrent starts from making the
// directory a repository, or from undoing that, meanwhile.
func recordStart(ctx context.Context, h *app.App, o StartOptions, agents []session.Agent) (a *startplan.Addition, err error) {
	unlock, aloneErr := worktree.Alone(ctx, h.Dir)
	defer unlock()
	repository, initialized, err := repositoryForStart(ctx, h, &o, agents)
	if err != nil {
		return nil, err
	}
	var handed *startplan.Origin
	if o.WithChanges {
		handed, err = startplan.HandOver(ctx, h.Manager(repository), o.Base, o.DryRun)
	}
	if err == nil {
		a, err = startplan.Session(ctx, h, repository, o.Name, o.Base, handed, agents)
	}
	if err == nil && !o.DryRun {
		err = begin(ctx, h, a, o.Prompt)
	}
	if err != nil && initialized && aloneErr == nil {
		err = errors.Join(err, worktree.Uninit(context.WithoutCancel(ctx), h.Dir))
	}
	if err == nil && initialized {
		h.Sayf("%s is now a git repository", h.Dir)
	}
	return a, err
}

// repositoryForStart finds the repository to work in. It makes an empty directory a repository,
// since later checks need one; the session name, which the message of the first commit contains, is
// picked before.
func repositoryForStart(ctx context.Context, h *app.App, o *StartOptions, agents []session.Agent) (repository gitdir.Repository, initialized bool, err error) {
	repository, err = gitdir.Discover(h.Dir)
	if err == nil || !errors.Is(err, gitdir.ErrNotRepository) {
		return repository, false, err
	}
	empty, err := worktree.Empty(h.Dir)
	if err != nil {
		return repository, false, err
	}
	if !empty {
		return repository, false, noRepository(h)
	}
	if o.Name, _, err = nameInEmpty(ctx, h, o.Name, agents); err != nil {
		return repository, false, err
	}
	if err := worktree.Init(ctx, h.Dir, fmt.Sprintf("afk: session %s initialized", o.Name)); err != nil {
		return repository, false, err
	}
	repository, err = gitdir.Discover(h.Dir)
	return repository, true, err
}

// becomesRepository reports whether a directory is empty and in no repository.
func becomesRepository(dir string) bool {
	_, err := gitdir.Discover(dir)
	empty, readErr := worktree.Empty(dir)
	return errors.Is(err, gitdir.ErrNotRepository) && readErr == nil && empty
}

// nameInEmpty returns the name of a session in an empty directory, and the directory without
// symlinks.
func nameInEmpty(ctx context.Context, h *app.App, asked string, agents []session.Agent) (name, dir string, err error) {
	if dir, err = filepath.EvalSymlinks(h.Dir); err != nil {
		return "", "", err
	}
	name, err = startplan.Name(ctx, h, gitdir.Repository{Path: dir, CommonDir: filepath.Join(dir, ".git")}, asked, agents)
	return name, dir, err
}

func planInEmpty(ctx context.Context, h *app.App, o StartOptions, agents []session.Agent) (*Started, error) {
	name, dir, err := nameInEmpty(ctx, h, o.Name, agents)
	if err != nil {
		return nil, err
	}
	steps, err := startplan.DescribeInEmpty(h, name, dir, agents)
	return &Started{Plan: steps}, err
}

// noRepository returns the error for a directory that has files and is in no repository. It does
// not propose git init in a parent of the home directory or in the home directory itself.
func noRepository(h *app.App) error {
	e := errs.New(errs.Failed, "%s: not a git repository, and not empty", h.Dir)
	if below, err := filepath.Rel(h.Dir, h.Getenv("HOME")); err == nil && filepath.IsLocal(below) {
		return e.Hint("mkdir project && cd project")
	}
	return e.Hint("git init && git add -A && git commit -m 'first commit'")
}

// begin creates the record, which names everything that start will make, before any of it is made.
func begin(ctx context.Context, h *app.App, a *startplan.Addition, prompt string) error {
	s := &a.Draft
	aside, err := h.Store.SetAsideCorrupt(s.Name)
	if err != nil {
		return h.RecordError(s.Name, err)
	}
	if aside != "" {
		h.Notef("the corrupt record of an earlier session %s is kept as %s", s.Name, aside)
	}
	ctx, cancel := context.WithTimeout(ctx, app.LockWait)
	defer cancel()
	err = h.GivePorts(ctx, s, func() error {
		if err := a.RequireRoom(h); err != nil {
			return err
		}
		return h.Store.Create(ctx, s, func() error {
			for _, w := range s.Agents {
				if err := a.Making.Hold(h, s.Name, w.Name); err != nil {
					return err
				}
			}
			return launch.KeepPrompts(h, s, s.Agents, prompt)
		})
	})
	if err != nil {
		a.Making.Release()
		if _, ok := errors.AsType[*session.TakenError](err); ok {
			return errs.New(errs.Usage, "%w", err).Hint("paw status --all")
		}
		return h.RecordError(s.Name, err)
	}
	return nil
}

// StartOptions holds the options of paw start.
type StartOptions struct {
	CLIs     []string // items "[AGENT=]CLI"
	Branches []string
	Name     string // "" picks one from the repository's directory name
	Base     string // "" is HEAD
	Prompt   string
	Preset   string
	DryRun   bool

	WaitSetUp   bool // wait until the set-ups are over
	HideTags    bool // have git log leave turn tags out, if the repository gets its first ones
	WithChanges bool // hand the uncommitted changes of the user's checkout to the agents
}

// applyPreset fills empty options from the preset that they name.
func applyPreset(o StartOptions, presets map[string]config.Preset) (StartOptions, error) {
	if o.Preset == "" {
		return o, nil
	}
	preset, ok := presets[o.Preset]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(presets)), ", ")
		return o, errs.New(errs.Usage, "preset %s: not in the configuration (%s)", o.Preset, cmp.Or(names, "there is none")).Hint("paw config")
	}
	if len(o.CLIs) == 0 {
		o.CLIs = preset.CLI
	}
	if len(o.Branches) == 0 {
		o.Branches = preset.Branches
	}
	o.Base = cmp.Or(o.Base, preset.Base)
	return o, nil
}

// Add adds agents to a running session.
func Add(ctx context.Context, h *app.App, s *session.Session, o startplan.Options) (*Started, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	check := func(agents []session.Agent) error {
		if err := h.RequireTools(ctx); err != nil {
			return err
		}
		if err := startplan.RequireCLIs(h, agents, o.Prompt); err != nil {
			return err
		}
		if s.Status == session.StatusStopped {
			return errs.New(errs.Failed, "%s: is stopped", s.Name).Hint("paw recover %s", s.Name)
		}
		return nil
	}
	if o.DryRun {
		a, err := startplan.NewAddition(ctx, h, s, o, check)
		if err != nil {
			return nil, err
		}
		return &Started{Session: s, Plan: slices.Concat(startplan.Describe(&a.Draft, a.Plans)[1:], a.Handed.Steps(), a.Steps)}, nil
	}
	rec, a, err := startplan.Add(ctx, h, s, o, check, nil)
	if err != nil {
		return nil, err
	}
	defer a.Making.Release()
	a.Waits = o.WaitSetUp
	saved, results, err := launch.BringUp(ctx, h, rec, a.Jobs(o.Prompt), &a.Making)
	if err != nil {
		return nil, launch.UndoAdd(h, saved, a.Plans, err)
	}
	children.ClaimAll(h, s.Name)
	return &Started{Session: saved, Results: results, Notes: notes(ctx, h, a.Manager, &a.Draft, a.Handed, false)()}, nil
}

// SetUpAgain repeats copying, linking and set-up in the worktrees of idle agents, all or none, and
// calls tell with the problems of each. An agent that did not start because its set-up failed starts
// now, with its first prompt. Agents get missing variables and ports; existing ones do
// not change.
func SetUpAgain(ctx context.Context, h *app.App, s *session.Session, names []string, tell func(agent string, notes []string)) error {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return err
	}
	if err := app.RequireAgents(s, names...); err != nil {
		return err
	}
	for _, name := range names {
		if err := observe.RefuseUnfinished(s, s.Agent(name)); err != nil {
			return err
		}
	}
	f, err := observe.RefuseNotAtRest(ctx, h, s, names...)
	if err != nil {
		if refused, ok := errors.AsType[*errs.Error](err); ok && refused.Kind == errs.Refused {
			refused.Kind = errs.Locked
		}
		return err
	}
	if err := observe.RefuseGone(f, names...); err != nil {
		return err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return err
	}
	if s, err = giveMissing(ctx, h, s, names); err != nil {
		return err
	}
	var mended []string
	for _, name := range names {
		w, err := app.AgentNamed(s, name)
		if err != nil {
			return err
		}
		a := h.Agent(s, w).In(m)
		release, err := launch.HoldForSetUp(a, f.Running(*f.Agent(name)))
		if err != nil {
			return err
		}
		notes := launch.SetUp(ctx, a)
		release()
		if tell(name, notes); len(notes) == 0 && w.SetUpFailed != "" && f.Running(*f.Agent(name)) == live.NothingRuns && w.Phase == session.PhaseLive {
			mended = append(mended, name)
		}
	}
	if err := ctx.Err(); err != nil || len(mended) == 0 {
		return err
	}
	return startMended(ctx, h, s.Name, mended)
}

// giveMissing gives agents the ports and variables that the configuration has gained since they
// were made.
func giveMissing(ctx context.Context, h *app.App, s *session.Session, names []string) (saved *session.Session, err error) {
	var without []string
	for _, name := range names {
		if s.Agent(name).Ports == nil {
			without = append(without, name)
		}
	}
	err = h.WithPorts(ctx, len(without), func(blocks []*session.Ports) error {
		saved, err = h.Update(ctx, s.Name, func(rec *session.Session) error {
			for i, name := range without {
				if w := rec.Agent(name); w != nil && w.Ports == nil {
					w.Ports = blocks[i]
				}
			}
			for _, name := range names {
				if w := rec.Agent(name); w != nil {
					for _, problem := range h.Agent(rec, w).Fill() {
						h.Notef("%s: %s", name, problem)
					}
				}
			}
			return nil
		})
		return err
	})
	return saved, err
}

// namePorts notes, for each agent that comes back, which of its ports other processes use.
func namePorts(s *session.Session, jobs []launch.Job) {
	for i := range jobs {
		if j := &jobs[i]; j.Starts() {
			j.Notes = append(j.Notes, app.PortsHeld(s, s.Agent(j.Agent))...)
		}
	}
}
