package startplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree/gitdir"
)

// mostNames is how many names paw tries by itself. Method cut reserves room for that number.
const mostNames = 999

// naming searches a name for a session with these agents.
type naming struct {
	home       *app.App
	repository gitdir.Repository
	agents     []session.Agent
	foreign    map[string]bool // names of existing tmux sessions
	space      turns.Names
}

// Name returns the name asked for, or the first free one made from the repository's directory name.
func Name(ctx context.Context, h *app.App, repository gitdir.Repository, asked string, agents []session.Agent) (string, error) {
	n := naming{home: h, repository: repository, agents: agents}
	var looking errgroup.Group
	looking.Go(func() (err error) { n.foreign, err = foreignTmuxSessions(ctx, h); return err })
	looking.Go(func() (err error) { n.space, err = turns.NamesOf(ctx, h, h.Manager(repository)); return err })
	if err := looking.Wait(); err != nil {
		return "", err
	}
	if asked != "" {
		taken, _ := n.taken(asked, true)
		if taken == nil && n.used(asked) {
			taken = n.keptTurns(asked)
		}
		if taken != nil {
			return "", n.withFree(taken, n.cut(asked))
		}
		return asked, nil
	}
	dir := repository.Path
	if dir == "" {
		dir = strings.TrimSuffix(strings.TrimSuffix(repository.CommonDir, "/.git"), ".git")
	}
	stem := n.cut(cmp.Or(session.NameFrom(filepath.Base(dir)), "session"))
	var own *errs.Error // error of a session of this repository that has the name
	if _, err := os.ReadDir(h.Store.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("sessions: %w", err)
	}
	name := firstName(stem, 1, func(name string) bool {
		taken, same := n.taken(name, false)
		if own == nil && same {
			own = taken
		}
		if taken != nil && taken.Err != nil {
			n.tellUnreadable(name, taken)
		}
		return own != nil || n.free(name)
	})
	switch {
	case own != nil:
		return "", n.withFree(own, stem)
	case name != "":
		if name != stem {
			n.tellOther(stem, name)
		}
		return name, nil
	}
	return "", errs.New(errs.Usage, "session %s: so are %d more names made from it taken", stem, mostNames).Hint("paw status --all")
}

// firstName returns the first of stem, stem_2, stem_3, ... for which fits holds, starting with
// number from; "" for none.
func firstName(stem string, from int, fits func(name string) bool) string {
	for n := from; n <= mostNames; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s_%d", stem, n)
		}
		if fits(name) {
			return name
		}
	}
	return ""
}

// used reports whether turns with that session name exist, or tags of these agents.
func (n naming) used(name string) bool {
	return len(n.space.Of(name).All()) > 0 || slices.ContainsFunc(n.agents, func(a session.Agent) bool { return n.space.Tagged[name+"_"+a.Name] })
}

// free reports whether paw may choose a name by itself: without turns or branches of an earlier
// session.
func (n naming) free(name string) bool {
	taken, _ := n.taken(name, false)
	return taken == nil && !n.used(name) && !slices.ContainsFunc(n.agents, func(a session.Agent) bool {
		return a.Branch == "" && n.space.Branches["refs/heads/"+app.AutomaticBranch(name, a.Name)] != ""
	})
}

// withFree adds a hint with a free name, if there is one, to a refusal.
func (n naming) withFree(taken *errs.Error, stem string) *errs.Error {
	name := firstName(stem, 2, n.free)
	if name == "" {
		return taken
	}
	return taken.Hint("%s", n.line("start", n.agents, app.With("name", name)))
}

// line returns a command that starts agents as it was asked for.
func (n naming) line(command string, agents []session.Agent, more app.Flag) string {
	return app.Agent{App: n.home}.Line(command, "", app.With("cli", itemsOf(agents)), more)
}

// keptTurns returns the refusal of a name with turns of an earlier session.
func (n naming) keptTurns(name string) *errs.Error {
	if what := n.space.Stays(name); what != "" {
		return errs.New(errs.Usage, "session %s: %s of an earlier session exists", name, what)
	}
	earlier := n.space.Of(name)
	names := earlier.InRepository()
	for _, a := range n.agents {
		names = append(names, a.Name)
	}
	e := errs.New(errs.Usage, "session %s: turns of an earlier session are kept under this name", name)
	if i := slices.IndexFunc(names, func(agent string) bool { return n.space.Tagged[name+"_"+agent] }); i >= 0 {
		e = errs.New(errs.Usage, "session %s: tags %s of an earlier session exist", name, turn.TagName(name+"_"+names[i], 0))
	}
	if len(earlier.Here)+len(earlier.Fetched) > 0 {
		return e.Hint("paw purge %s --tags", name)
	}
	return e
}

// itemsOf formats agents as items of --cli.
func itemsOf(agents []session.Agent) string {
	items := make([]string, len(agents))
	for i, a := range agents {
		if items[i] = a.Name + "=" + a.CLI; a.Name == a.CLI {
			items[i] = a.CLI
		}
	}
	return strings.Join(items, ",")
}

// cut shortens a session name, so that a number and the longest agent name fit behind it.
func (n naming) cut(stem string) string {
	longest := 0
	for _, a := range n.agents {
		longest = max(longest, len(a.Name))
	}
	if room := session.MaxName - len("_999_") - longest; len(stem) > room && room > 0 {
		stem = stem[:room]
	}
	return stem
}

// taken returns why a session name cannot be used, nil when it is free, and whether a session of
// this repository has it. A corrupt record whose session is not in tmux does not block a name that
// the user asked for: begin moves the record aside.
func (n naming) taken(name string, asked bool) (taken *errs.Error, same bool) {
	s, err := n.home.Store.Load(name)
	var corrupt *session.CorruptError
	runs := n.foreign["paw-"+name]
	if asked && !runs && errors.As(err, &corrupt) {
		err = nil
	}
	switch {
	case err != nil && runs:
		return errs.New(errs.Failed, "session %s: taken by a record that cannot be read: %w", name, err).Hint("paw stop %s", name), false
	case err != nil:
		return errs.New(errs.Failed, "session %s: taken by a record that cannot be read: %w", name, err).Hint("paw doctor"), false
	case s != nil && s.GitCommonDir == n.repository.CommonDir:
		agents := slices.Clone(n.agents)
		for i, a := range agents {
			if s.Agent(a.Name) != nil {
				agents[i].Name = a.CLI // and add finds a free name
			}
		}
		return errs.New(errs.Usage, "session %s: already exists for %s", name, s.RepoPath).
			Hint("paw attach %s", name).Hint("paw recover %s", name).Hint("%s", n.line("add", agents, n.home.Place().Flag(name))), true
	case s != nil:
		return errs.New(errs.Usage, "session %s: already exists for %s", name, s.RepoPath), false
	case runs:
		return errs.New(errs.Usage, "session %s: tmux has a session paw-%s that is not in paw's records", name, name), false
	}
	return nil, false
}

// tellOther notes why a session does not have the name of its repository.
func (n naming) tellOther(stem, name string) {
	taken, _ := n.taken(stem, false)
	why := fmt.Sprintf("a branch of an earlier session has the name %s", stem)
	switch {
	case taken != nil && taken.Err != nil: // told already
		return
	case taken != nil:
		why = taken.Error()
	case n.used(stem):
		kept := n.keptTurns(stem)
		if why = kept.Error(); len(kept.Hints) > 0 {
			why += "; " + errs.Line("%s", kept.Hints[0]) + " frees the name"
		}
	}
	n.home.Notef("this session is called %s: %s", name, why)
}

// tellUnreadable notes that paw skips a name because its record cannot be read: that session may
// still run.
func (n naming) tellUnreadable(name string, taken *errs.Error) {
	runs := ""
	if n.foreign["paw-"+name] {
		runs = fmt.Sprintf("; tmux has a session paw-%s: %s says how its agents end", name, errs.Line("paw stop %s", name))
	}
	n.home.Notef("%v%s", taken, runs)
}

// foreignTmuxSessions returns the names of the tmux sessions on the server for new sessions.
func foreignTmuxSessions(ctx context.Context, h *app.App) (map[string]bool, error) {
	names := map[string]bool{}
	sessions, err := h.TmuxFor(nil).SessionNames(ctx)
	if errors.Is(err, tmux.ErrNoServer) {
		return names, nil
	}
	if err != nil {
		return nil, app.TmuxError(err)
	}
	for _, name := range sessions {
		names[name] = true
	}
	return names, nil
}
