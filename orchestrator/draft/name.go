package draft

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// mostNames is how many names paw tries of its own accord. The number has to fit into cut.
const mostNames = 999

// Name is the name asked for, or the first free one made from the
// repository's directory name.
func Name(ctx context.Context, h *home.Home, repository worktree.Repository, asked string, agents []Agent) (string, error) {
	foreign, err := foreignTmuxSessions(ctx, h)
	if err != nil {
		return "", err
	}
	space, err := turns.SpaceOf(ctx, h, h.Manager(repository))
	if err != nil {
		return "", err
	}
	used := func(name string) bool {
		return space.Of(name).Any() || slices.ContainsFunc(agents, func(a Agent) bool { return space.Tagged[name+"_"+a.name] })
	}
	// An automatic name is one without a past: it goes on with no branch that an earlier session left.
	free := func(name string) bool {
		taken, _ := nameTaken(h, name, false, repository, foreign, agents)
		return taken == nil && !used(name) && !slices.ContainsFunc(agents, func(a Agent) bool {
			return a.branch == "" && space.Branches["refs/heads/"+home.AutomaticBranch(name, a.name)] != ""
		})
	}
	if asked != "" {
		taken, _ := nameTaken(h, asked, true, repository, foreign, agents)
		if taken == nil && used(asked) {
			taken = keptTurns(space, asked, agents)
		}
		if taken != nil {
			return "", orName(taken, freeName(cut(asked, agents), 2, free), agents)
		}
		return asked, nil
	}
	stem := stemFor(repository, agents)
	var own *fault.Error // of a session of this repository that has the name already
	name := freeName(stem, 1, func(name string) bool {
		taken, same := nameTaken(h, name, false, repository, foreign, agents)
		if own == nil && same {
			own = taken
		}
		return own != nil || free(name)
	})
	switch {
	case own != nil:
		return "", orName(own, freeName(stem, 2, free), agents)
	case name != "":
		return name, nil
	}
	return "", fault.New(fault.Usage, "session %s: so are %d more names made from it taken", stem, mostNames).Hint("paw status --all")
}

// freeName is the first free one of stem, stem_2, stem_3, ... from a number on; "" when none is.
func freeName(stem string, from int, free func(name string) bool) string {
	for n := from; n <= mostNames; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s_%d", stem, n)
		}
		if free(name) {
			return name
		}
	}
	return ""
}

// orName adds the hint of a name that would do, "" for none, to why another one does not.
func orName(taken *fault.Error, name string, agents []Agent) *fault.Error {
	if name == "" {
		return taken
	}
	return taken.Hint("paw start --cli %s --name %s", itemsOf(agents), name)
}

// keptTurns is the refusal of a name under which there are turns.
func keptTurns(space turns.Space, name string, agents []Agent) *fault.Error {
	earlier := space.Of(name)
	names := earlier.InRepository()
	for _, a := range agents {
		names = append(names, a.name)
	}
	e := fault.New(fault.Usage, "session %s: turns of an earlier session are kept under this name", name)
	for _, agent := range names {
		if space.Tagged[name+"_"+agent] {
			e = fault.New(fault.Usage, "session %s: tags %s of an earlier session exist", name, turn.TagName(name+"_"+agent, 0))
			break
		}
	}
	if len(earlier.Here)+len(earlier.Fetched) > 0 {
		return e.Hint("paw purge %s --tags", name)
	}
	return e
}

// clisOf is what --cli takes to start the same CLIs under names of their own.
func clisOf(agents []Agent) string {
	clis := make([]string, len(agents))
	for i, a := range agents {
		clis[i] = a.CLI
	}
	return strings.Join(clis, ",")
}

// itemsOf is what --cli takes to name these agents.
func itemsOf(agents []Agent) string {
	items := make([]string, len(agents))
	for i, a := range agents {
		if items[i] = a.name + "=" + a.CLI; a.name == a.CLI {
			items[i] = a.CLI
		}
	}
	return strings.Join(items, ",")
}

// stemFor is the repository's directory name, cut.
func stemFor(repository worktree.Repository, agents []Agent) string {
	dir := repository.Path
	if dir == "" {
		dir = strings.TrimSuffix(strings.TrimSuffix(repository.CommonDir, "/.git"), ".git")
	}
	return cut(defaultName(dir), agents)
}

// cut shortens the name of a session, so that a number and the longest agent
// name still fit behind it.
func cut(stem string, agents []Agent) string {
	longest := 0
	for _, a := range agents {
		longest = max(longest, len(a.name))
	}
	if room := session.MaxName - len("_999_") - longest; len(stem) > room && room > 0 {
		stem = stem[:room]
	}
	return stem
}

// nameTaken says why a session name cannot be used, nil when it is free, and
// whether it is this repository that has it. A corrupt record holds no name that
// the user asked for: begin moves it aside.
func nameTaken(h *home.Home, name string, asked bool, repository worktree.Repository, foreign map[string]bool, agents []Agent) (taken *fault.Error, same bool) {
	s, err := h.Store.Load(name)
	var corrupt *session.CorruptError
	if asked && errors.As(err, &corrupt) {
		err = nil
	}
	switch {
	case err != nil:
		return fault.New(fault.Failed, "session %s: taken by a record that cannot be read: %w", name, err).Hint("paw doctor"), false
	case s != nil && s.GitCommonDir == repository.CommonDir:
		return fault.New(fault.Usage, "session %s: already exists for %s", name, s.RepoPath).
			Hint("paw attach %s", name).Hint("paw recover %s", name).Hint("paw add --cli %s --session %s", clisOf(agents), name), true
	case s != nil:
		return fault.New(fault.Usage, "session %s: already exists for %s", name, s.RepoPath), false
	case foreign["paw-"+name]:
		return fault.New(fault.Usage, "session %s: tmux has a session paw-%s that is not in paw's records", name, name), false
	}
	return nil, false
}

// foreignTmuxSessions are the names of the tmux sessions on the server that new
// sessions go to.
func foreignTmuxSessions(ctx context.Context, h *home.Home) (map[string]bool, error) {
	names := map[string]bool{}
	sessions, err := h.TmuxFor(nil).SessionNames(ctx)
	if errors.Is(err, tmux.ErrNoServer) {
		return names, nil
	}
	if err != nil {
		return nil, home.TmuxError(err)
	}
	for _, name := range sessions {
		names[name] = true
	}
	return names, nil
}

// defaultName makes a session name out of a directory.
func defaultName(dir string) string {
	if name := session.NameFrom(filepath.Base(dir)); name != "" {
		return name
	}
	return "session"
}
