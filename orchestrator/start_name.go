package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// mostNames is how many names paw tries of its own accord. The number has to fit into cut.
const mostNames = 999

// sessionName is the name asked for, or the first free one made from the
// repository's directory name.
func (p *Paw) sessionName(ctx context.Context, repository worktree.Repository, o StartOptions, agents []plannedAgent) (string, error) {
	foreign, err := p.foreignTmuxSessions(ctx)
	if err != nil {
		return "", err
	}
	space, err := p.turnSpaceOf(ctx, repository)
	if err != nil {
		return "", err
	}
	used := func(name string) bool { return space.of(name).any() || anyIn(space.tagged, name, agents) }
	// An automatic name is one without a past: it goes on with no branch that an earlier session left.
	free := func(name string) bool {
		taken, _ := p.nameTaken(name, false, repository, foreign, agents)
		return taken == nil && !used(name) && !anyBranch(space.branches, name, agents)
	}
	if o.Name != "" {
		taken, _ := p.nameTaken(o.Name, true, repository, foreign, agents)
		if taken == nil && used(o.Name) {
			taken = keptTurns(space, o.Name, agents)
		}
		if taken != nil {
			return "", orName(taken, freeName(cut(o.Name, agents), 2, free), agents)
		}
		return o.Name, nil
	}
	stem := stemFor(repository, agents)
	var own *Error // of a session of this repository that has the name already
	name := freeName(stem, 1, func(name string) bool {
		taken, same := p.nameTaken(name, false, repository, foreign, agents)
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
	return "", failf(KindUsage, "session %s: so are %d more names made from it taken", stem, mostNames).hint("paw start --cli %s --name NAME", itemsOf(agents))
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
func orName(taken *Error, name string, agents []plannedAgent) *Error {
	if name == "" {
		return taken
	}
	return taken.hint("paw start --cli %s --name %s", itemsOf(agents), name)
}

// anyBranch reports whether the automatic branch of one of the agents exists.
func anyBranch(refs map[string]string, name string, agents []plannedAgent) bool {
	for _, a := range agents {
		if a.branch == "" && refs["refs/heads/"+automaticBranch(name, a.name)] != "" {
			return true
		}
	}
	return false
}

// keptTurns is the refusal of a name under which there are turns.
func keptTurns(space turnSpace, name string, agents []plannedAgent) *Error {
	earlier := space.of(name)
	names := earlier.inRepository()
	for _, a := range agents {
		names = append(names, a.name)
	}
	e := failf(KindUsage, "session %s: turns of an earlier session are kept under this name", name)
	for _, agent := range names {
		if space.tagged[name+"_"+agent] {
			e = failf(KindUsage, "session %s: tags %s of an earlier session exist", name, turn.TagName(name+"_"+agent, 0))
			break
		}
	}
	if len(earlier.here)+len(earlier.fetched) > 0 {
		return e.hint("paw purge %s --tags", name)
	}
	return e
}

// clisOf is what --cli takes to start the same CLIs under names of their own.
func clisOf(agents []plannedAgent) string {
	clis := make([]string, len(agents))
	for i, a := range agents {
		clis[i] = a.cli
	}
	return strings.Join(clis, ",")
}

// itemsOf is what --cli takes to name these agents.
func itemsOf(agents []plannedAgent) string {
	items := make([]string, len(agents))
	for i, a := range agents {
		if items[i] = a.name + "=" + a.cli; a.name == a.cli {
			items[i] = a.cli
		}
	}
	return strings.Join(items, ",")
}

// anyIn tells whether one of the agents would get a turn session that is taken.
func anyIn(taken map[string]bool, name string, agents []plannedAgent) bool {
	for _, a := range agents {
		if taken[name+"_"+a.name] {
			return true
		}
	}
	return false
}

// stemFor is the repository's directory name, cut.
func stemFor(repository worktree.Repository, agents []plannedAgent) string {
	dir := repository.Path
	if dir == "" {
		dir = strings.TrimSuffix(strings.TrimSuffix(repository.CommonDir, "/.git"), ".git")
	}
	return cut(defaultName(dir), agents)
}

// cut shortens the name of a session, so that a number and the longest agent
// name still fit behind it.
func cut(stem string, agents []plannedAgent) string {
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
func (p *Paw) nameTaken(name string, asked bool, repository worktree.Repository, foreign map[string]bool, agents []plannedAgent) (taken *Error, same bool) {
	s, err := p.Store.Load(name)
	var corrupt *session.CorruptError
	if asked && errors.As(err, &corrupt) {
		err = nil
	}
	switch {
	case err != nil:
		return failf(KindError, "session %s: taken by a record that cannot be read: %w", name, err).hint("paw doctor"), false
	case s != nil && s.GitCommonDir == repository.CommonDir:
		return failf(KindUsage, "session %s: already exists for %s", name, s.RepoPath).
			hint("paw attach %s", name).hint("paw recover %s", name).hint("paw add --cli %s --session %s", clisOf(agents), name), true
	case s != nil:
		return failf(KindUsage, "session %s: already exists for %s", name, s.RepoPath), false
	case foreign["paw-"+name]:
		return failf(KindUsage, "session %s: tmux has a session paw-%s that is not in paw's records", name, name), false
	}
	return nil, false
}

// foreignTmuxSessions are the names of the tmux sessions on the server that new
// sessions go to.
func (p *Paw) foreignTmuxSessions(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	_, panes, err := p.tmuxFor(nil).Panes(ctx)
	if errors.Is(err, tmux.ErrNoServer) {
		return names, nil
	}
	if err != nil {
		return nil, tmuxError(err)
	}
	for _, pane := range panes {
		names[pane.SessionName] = true
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
