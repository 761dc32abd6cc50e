package orchestrator

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"paw/session/turn"
	"paw/worktree"
)

// turnSpace is which turn sessions a repository has, and whose they are as far as anybody can tell.
type turnSpace struct {
	tagged map[string]bool   // that have tags
	hidden map[string]bool   // that have refs which only paw makes, or a worktree now
	owner  map[string]string // session of a turn session
	logged map[string][]string

	branches map[string]string // refs of the branches that paw named
}

// earlierTurns is what there is of sessions of one name, by agent.
type earlierTurns struct {
	here      []string // of this home, in the repository
	elsewhere []string // of this home, in another repository: there is nothing but a log
	fetched   []string // tags that came from another clone
	stranger  []string // made in the repository by a paw of another home
}

// numberedName is what follows "shop_" in the turn sessions of shop_2, the name that a second session of shop gets.
var numberedName = regexp.MustCompile(`^[0-9]+_`)

// loggedSessions are the sessions that have turn logs, of any repository, with their agents. Unlike the names of tags the
// folders tell session and agent apart.
func (p *Paw) loggedSessions() map[string][]string {
	logged := map[string][]string{}
	entries, _ := os.ReadDir(p.Paths.TurnsDir())
	for _, e := range entries {
		agents, _ := os.ReadDir(filepath.Join(p.Paths.TurnsDir(), e.Name()))
		for _, agent := range agents {
			logged[e.Name()] = append(logged[e.Name()], agent.Name())
		}
	}
	return logged
}

// turnSpaceOf looks at tags, hidden refs and worktrees of a repository and at records and logs of this home.
func (p *Paw) turnSpaceOf(ctx context.Context, repository worktree.Repository) (turnSpace, error) {
	space := turnSpace{hidden: map[string]bool{}, owner: map[string]string{}, logged: p.loggedSessions()}
	var err error
	if space.tagged, err = p.takenTurnSessions(ctx, repository.CommonDir); err != nil {
		return space, err
	}
	// An empty directory becomes a repository only when nothing is refused any more.
	if _, err := os.Lstat(repository.CommonDir); err == nil {
		m := p.manager(repository)
		if err := space.addHidden(ctx, m); err != nil {
			return space, err
		}
		if space.branches, err = m.Refs(ctx, "refs/heads/"+branchPrefix); err != nil {
			return space, err
		}
	}
	for sessionName, agents := range space.logged {
		for _, agent := range agents {
			space.owner[sessionName+"_"+agent] = sessionName
		}
	}
	records, _, _ := p.Store.List()
	for _, s := range records {
		for _, w := range s.Worktrees {
			space.owner[w.TurnSession] = s.Name
		}
	}
	return space, nil
}

// addHidden adds what paws of any home have made in a repository.
func (space turnSpace) addHidden(ctx context.Context, m worktree.Manager) error {
	refs, err := m.Refs(ctx, turn.HiddenPrefix)
	if err != nil {
		return err
	}
	for ref := range refs {
		if turnSession, _, ok := strings.Cut(strings.TrimPrefix(ref, turn.HiddenPrefix), "/"); ok {
			space.hidden[turnSession] = true
		}
	}
	entries, err := m.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		owner, ours := strings.CutPrefix(e.LockReason, ownerPrefix)
		owner, _, _ = strings.Cut(owner, " ")
		if sessionName, agent, ok := strings.Cut(owner, "/"); ours && ok {
			space.hidden[sessionName+"_"+agent], space.owner[sessionName+"_"+agent] = true, sessionName
		}
	}
	return nil
}

// of finds what sessions of a name left. The names of tags do not tell session and agent apart: afk-a_b_c-1 may be of a_b
// or of a. Where nobody knows the owner, the rest of the name is taken for an agent's, unless it is the number of a
// second session.
func (space turnSpace) of(name string) earlierTurns {
	var found earlierTurns
	for _, agent := range space.logged[name] {
		if turnSession := name + "_" + agent; space.tagged[turnSession] || space.hidden[turnSession] {
			found.here = append(found.here, agent)
		} else {
			found.elsewhere = append(found.elsewhere, agent)
		}
	}
	all := maps.Clone(space.tagged)
	maps.Copy(all, space.hidden)
	for _, turnSession := range slices.Sorted(maps.Keys(all)) {
		agent, ok := strings.CutPrefix(turnSession, name+"_")
		owner := space.owner[turnSession]
		switch {
		case !ok || agent == "" || slices.Contains(space.logged[name], agent):
		case owner != "" && owner != name || owner == "" && numberedName.MatchString(agent):
		case space.hidden[turnSession]:
			found.stranger = append(found.stranger, agent)
		default:
			found.fetched = append(found.fetched, agent)
		}
	}
	return found
}

// agents are the names of agents of a session that have left anything: another agent of that name would get their turns.
func (space turnSpace) agents(sessionName string) map[string]bool {
	agents := map[string]bool{}
	for _, left := range []map[string]bool{space.tagged, space.hidden} {
		for turnSession := range left {
			if agent, ok := strings.CutPrefix(turnSession, sessionName+"_"); ok {
				agents[agent] = true
			}
		}
	}
	for _, agent := range space.logged[sessionName] {
		agents[agent] = true
	}
	return agents
}

// inRepository are the agents whose tags or hidden refs the repository has.
func (e earlierTurns) inRepository() []string { return slices.Concat(e.here, e.fetched, e.stranger) }

// any reports whether the name is taken by turns.
func (e earlierTurns) any() bool { return len(e.inRepository())+len(e.elsewhere) > 0 }
