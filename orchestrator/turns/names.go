package turns

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Names lists the names of turn sessions that are taken in a repository, with their sessions where
// known.
type Names struct {
	Tagged map[string]bool                   // turn sessions with tags
	hidden map[string]bool                   // turn sessions with hidden refs, or with a worktree now
	owner  map[string]string                 // session of each turn session whose ref of the owner has the name
	logged func(sessionName string) []string // agents of a session of this home that have turn logs, in any repository
	stays  map[string]string                 // worktree or ref of rescued work of a turn session, which paw purge --tags keeps

	Branches map[string]string // refs of branches that paw named, with their commits
}

// Earlier lists what exists of sessions of one name, as names of agents.
type Earlier struct {
	Here      []string // made by this home, in the repository
	Elsewhere []string // made by this home in another repository: only a log is left
	Fetched   []string // tags that came from another clone
	Stranger  []string // made in the repository by a paw of another home
}

// numberedName matches the rest of the turn session names of shop_2, a second session of shop,
// after "shop_".
var numberedName = lazyregexp.New(`^[0-9]+_`)

// branchesOfPaw begins the refs of branches that paw names.
const branchesOfPaw = "refs/heads/" + app.BranchPrefix

// NamesOf reads tags, hidden refs and worktrees of a repository, and the folders of logs of this home.
func NamesOf(ctx context.Context, h *app.App, m *worktree.Manager) (Names, error) {
	space := Names{
		Tagged: map[string]bool{}, hidden: map[string]bool{}, owner: map[string]string{}, stays: map[string]string{},
		logged: func(sessionName string) (agents []string) { // folders, unlike names of tags, tell session and agent apart
			entries, _ := os.ReadDir(filepath.Join(h.Paths.TurnsDir(), sessionName))
			for _, e := range entries {
				agents = append(agents, e.Name())
			}
			return agents
		},
	}
	if _, err := os.Lstat(m.Repository.CommonDir); errors.Is(err, fs.ErrNotExist) { // before a start in an empty directory
		return space, nil
	}
	return space, space.addRefs(ctx, m)
}

// addRefs adds what paws of any home have made in a repository, and the tags that came from other ones.
func (space *Names) addRefs(ctx context.Context, m *worktree.Manager) error {
	refs, err := m.Refs().List(ctx, allTags, turn.HiddenPrefix, branchesOfPaw)
	if err != nil {
		return err
	}
	space.Branches = map[string]string{}
	for ref, oid := range refs {
		tagged, _, isTag := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/"))
		hidden, isHidden := strings.CutPrefix(ref, turn.HiddenPrefix)
		turnSession, _, _ := strings.Cut(hidden, "/")
		switch {
		case isTag:
			space.Tagged[tagged] = true
		case isHidden:
			space.hidden[turnSession] = true
			if _, session, _, owned := turn.ParseOwner(ref); owned {
				space.owner[turnSession] = session
			}
			if strings.HasPrefix(ref, turn.RescuePrefix(turnSession)) && ref != turn.LeftRef(turnSession) {
				space.stays[turnSession] = ref
			}
		case strings.HasPrefix(ref, branchesOfPaw):
			space.Branches[ref] = oid
		}
	}
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		owner, ours := strings.CutPrefix(e.LockReason, app.OwnerPrefix)
		owner, _, _ = strings.Cut(owner, " ")
		if sessionName, agent, ok := strings.Cut(owner, "/"); ours && ok {
			turnSession := sessionName + "_" + agent
			space.hidden[turnSession], space.stays[turnSession] = true, e.Path
		}
	}
	return nil
}

// agentOf returns the agent of a session of that name to which a turn session belongs, "" for none.
// Names of tags do not tell session and agent apart: afk-a_b_c-1 may belong to a_b or to a. Without
// a known owner the rest of the name counts as an agent's, unless it is the number of a second
// session.
func (space Names) agentOf(name, turnSession string) string {
	agent, ok := strings.CutPrefix(turnSession, name+"_")
	owner := space.owner[turnSession]
	if !ok || owner != "" && owner != name || owner == "" && numberedName().MatchString(agent) {
		return ""
	}
	return agent
}

// Stays returns the path of a worktree, or the ref of rescued work, that keeps a name taken even
// after paw purge --tags; "" if there is none.
func (space Names) Stays(name string) string {
	for _, turnSession := range slices.Sorted(maps.Keys(space.stays)) {
		if space.agentOf(name, turnSession) != "" {
			return space.stays[turnSession]
		}
	}
	return ""
}

// Of returns what sessions of a name have left.
func (space Names) Of(name string) Earlier {
	var found Earlier
	logged := space.logged(name)
	for _, agent := range logged {
		if turnSession := name + "_" + agent; space.Tagged[turnSession] || space.hidden[turnSession] {
			found.Here = append(found.Here, agent)
		} else {
			found.Elsewhere = append(found.Elsewhere, agent)
		}
	}
	all := maps.Clone(space.Tagged)
	maps.Copy(all, space.hidden)
	for _, turnSession := range slices.Sorted(maps.Keys(all)) {
		agent := space.agentOf(name, turnSession)
		switch {
		case agent == "" || slices.Contains(logged, agent):
		case space.hidden[turnSession]:
			found.Stranger = append(found.Stranger, agent)
		default:
			found.Fetched = append(found.Fetched, agent)
		}
	}
	return found
}

// InRepository returns the agents with tags or hidden refs in the repository.
func (e Earlier) InRepository() []string { return slices.Concat(e.Here, e.Fetched, e.Stranger) }

// All returns the agents that have left anything: a new agent of the same name would get their turns.
func (e Earlier) All() []string { return slices.Concat(e.InRepository(), e.Elsewhere) }

// Tags returns the commits of the turn tags of one turn session by number, without git where refs are files.
func Tags(ctx context.Context, m *worktree.Manager, turnSession string) (map[int]string, error) {
	refs, err := m.Refs().List(ctx, TagPrefix(turnSession))
	return tagsIn(refs, turnSession), err
}

// allTags begins the refs of all turn tags.
const allTags = "refs/tags/" + turn.TagPrefix

// AllTags returns the numbers of all turn tags of a repository, sorted, by turn session.
func AllTags(ctx context.Context, m *worktree.Manager) (map[string][]int, error) {
	refs, err := m.Refs().List(ctx, allTags)
	numbers := map[string][]int{}
	for ref := range refs {
		if turnSession, n, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok {
			numbers[turnSession] = append(numbers[turnSession], n)
		}
	}
	for turnSession := range numbers {
		slices.Sort(numbers[turnSession])
	}
	return numbers, err
}

// TagPrefix returns the beginning of the tag refs of a turn session.
func TagPrefix(turnSession string) string { return allTags + turnSession + "-" }

// tagsIn returns the turn tags of one turn session among refs: their commits, by number.
func tagsIn(refs map[string]string, turnSession string) map[int]string {
	found := map[int]string{}
	for ref, oid := range refs {
		if name, n, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && name == turnSession {
			found[n] = oid
		}
	}
	return found
}

// tagElsewhere returns an error for a tag that is not on the commit of its turn's end.
func tagElsewhere(s *session.Session, w session.Agent, n int, at, commit string) error {
	name := turn.TagName(w.TurnSession, n)
	switch {
	case at == commit:
		return nil
	case commit == "":
		return errs.New(errs.Failed, "%s: turn %d: tag %s is on %.12s, and the turn has not finished", w.Name, n, name, at).
			Hint("git -C %s tag -d %s", errs.Quote(s.GitCommonDir), name)
	}
	return errs.New(errs.Failed, "%s: turn %d: tag %s is on %.12s, not on its commit %.12s", w.Name, n, name, at, commit).
		Hint("git -C %s update-ref %s %s %s", errs.Quote(s.GitCommonDir), turn.TagRef(w.TurnSession, n), commit, at)
}

// ErrNameTaken is the cause of a refusal because another session, of another user or an earlier
// one, has turns of the same name in the repository.
var ErrNameTaken = errors.New("the name is taken in this repository")

// Own returns those agents whose turns belong to s, and not to another user's session of the same
// name.
func Own(ctx context.Context, m *worktree.Manager, s *session.Session, agents ...string) (own []string, err error) {
	for _, agent := range agents {
		turnSession := s.Name + "_" + agent
		owners, err := m.Refs().List(ctx, turn.OwnerPrefix(turnSession))
		if err != nil {
			return nil, err
		}
		if len(owners) == 0 || owners[turn.OwnerRef(turnSession, s.Name, s.ID)] != "" {
			own = append(own, agent)
		}
	}
	return own, nil
}
