package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/states"
)

// Branch is the branch of a removed agent: what was found, and the plan.
type Branch struct {
	Agent string
	Name  string
	Tip   string // "" when the branch does not exist
	Into  string // HEAD, a ref or a commit that has all commits of the branch; "" when the branch stays
	Why   string // reason for deleting or keeping the branch
	Gone  bool   // renamed or deleted by somebody else

	made   bool   // made by paw
	err    error  // why what was found is unknown, nil when it is known
	holder string // remaining worktree that has the branch checked out
	inHead bool   // HEAD has all commits of the branch
	landed string // commit of a landing that has all commits of the branch
	also   []string
}

// planBranches decides which branches are deleted: those that paw made and whose commits are kept
// elsewhere. A branch that is itself deleted keeps no commits.
func planBranches(found []Branch) []Branch {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Branch) int { return cmp.Compare(a.Name, b.Name) })
	goes := map[string]bool{}
	for _, b := range found {
		goes["refs/heads/"+b.Name] = b.goes() && (b.inHead || b.landed != "")
	}
	var plan []Branch
	for _, b := range found {
		if b.err == nil && b.Tip == "" {
			continue
		}
		switch other := b.elsewhere(goes); {
		case !b.made:
			b.Why = "paw did not make it"
		case b.err != nil:
			b.Why = b.err.Error()
		case !b.inHead && b.landed == "" && other == "":
			b.Why = "not merged"
		case b.holder != "":
			b.Why = "checked out at " + b.holder
		case b.inHead:
			b.Into, b.Why = "HEAD", "HEAD has it"
		case b.landed != "":
			b.Into, b.Why = b.landed, "it has landed"
		default:
			b.Into, b.Why = other, other+" has it"
			goes["refs/heads/"+b.Name] = true
		}
		plan = append(plan, b)
	}
	return plan
}

// planLanded decides which branches are deleted with removed agents: only those that have landed.
func planLanded(ctx context.Context, m *worktree.Manager, sessionName string, agents []Agent) []Branch {
	var records []session.Agent
	for _, p := range agents {
		records = append(records, p.Agent)
	}
	leaving := plansOf(agents)
	found := lookAtTips(ctx, m, sessionName, records, leaving)
	for i := range found {
		b := &found[i]
		b.lookAtLanding(ctx, m, leaving)
		b.Gone = b.err == nil && b.Tip == ""
		if b.goes() && b.landed != "" {
			b.Into, b.Why = b.landed, "it has landed"
		}
	}
	return found
}

// plansOf returns the worktree plans of agents.
func plansOf(agents []Agent) []worktree.Plan {
	plans := make([]worktree.Plan, len(agents))
	for i, p := range agents {
		plans[i] = p.plan
	}
	return plans
}

// goes reports whether the branch may be deleted if its commits are kept elsewhere.
func (b Branch) goes() bool { return b.made && b.err == nil && b.Tip != "" && b.holder == "" }

// elsewhere returns another branch, or a tag that is no turn tag, that has the branch's commits and
// stays, "" for none.
func (b Branch) elsewhere(goes map[string]bool) string {
	for _, ref := range b.also {
		if ref != "refs/heads/"+b.Name && !goes[ref] && !strings.HasPrefix(ref, "refs/tags/"+turn.TagPrefix) {
			return ref
		}
	}
	return ""
}

func (b Branch) line() string {
	line := "keep branch " + b.Name
	if b.Gone {
		return "no branch " + b.Name
	}
	if b.Into != "" {
		line = "delete branch " + b.Name
	}
	if b.Why != "" {
		line += ": " + b.Why
	}
	return line
}

// lookAtBranches looks at agents' branches: whether HEAD has them, whether they have
// landed, and which other refs have them. leaving are the worktrees that are removed too. A branch
// stays if one of these could not be found out.
func lookAtBranches(ctx context.Context, m *worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []Branch {
	found := lookAtTips(ctx, m, sessionName, agents, leaving)
	tips := map[string]string{}
	for _, b := range found {
		if b.made && b.Tip != "" && b.err == nil {
			tips[b.Name] = b.Tip
		}
	}
	merged, err := m.Refs().MergedBranches(ctx, tips, "HEAD")
	detached, headErr := m.Refs().Detached(ctx)
	err = cmp.Or(err, headErr)
	for i := range found {
		b := &found[i]
		if tips[b.Name] == "" {
			continue
		}
		// The next git switch leaves a commit that only a detached HEAD has to the reflog.
		b.inHead, b.err = merged[b.Name] && (!detached || b.Tip == agents[i].BaseCommit), err
		if b.inHead || err != nil {
			continue
		}
		if b.lookAtLanding(ctx, m, leaving); b.landed == "" {
			b.also, b.err = states.Containing(ctx, m.Objects(), b.Tip, "refs/heads/", "refs/remotes/", "refs/tags/")
		}
	}
	return found
}

// lookAtTips reads the tips of the branches, who made them, and which worktrees use them.
func lookAtTips(ctx context.Context, m *worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []Branch {
	found := make([]Branch, len(agents))
	holders, err := m.Registry().Holders(ctx, leaving...)
	for i, w := range agents {
		b := &found[i]
		found[i] = Branch{Agent: w.Name, Name: w.Branch, made: app.MadeByPaw(sessionName, w), err: err, holder: holders[w.Branch]}
		if err == nil {
			b.Tip, b.err = m.Refs().Tip(ctx, w.Branch)
		}
		if b.made && !w.BranchCreated && madeByHand(m, w.Branch) {
			b.made = false
		}
	}
	return found
}

// madeByHand reports whether the log of a branch says that git made it: paw writes another message.
func madeByHand(m *worktree.Manager, branch string) bool {
	log, err := m.Refs().PastTips(branch)
	return err == nil && len(log) > 0 && strings.HasPrefix(log[0].Why, "branch: Created from ")
}

// lookAtLanding finds out whether all of a branch has landed.
func (b *Branch) lookAtLanding(ctx context.Context, m *worktree.Manager, leaving []worktree.Plan) {
	i := slices.IndexFunc(leaving, func(p worktree.Plan) bool { return p.Branch == b.Name && p.Saved != "" })
	if i < 0 || !b.made || b.Tip == "" || b.err != nil {
		return
	}
	if there, err := m.Objects().Contains(ctx, leaving[i].Saved, b.Tip); err == nil && there {
		b.landed = leaving[i].Saved
	}
}

// deleteBranches deletes the branches that are planned to go, unless they have moved since. It
// returns the deleted ones, and the reason why each of the others stays.
func deleteBranches(ctx context.Context, m *worktree.Manager, plan []Branch) (gone []string, kept map[string]string) {
	kept = map[string]string{}
	into := map[string]map[string]string{}
	for _, b := range plan {
		if b.Into == "" {
			kept[b.Name] = b.Why
			continue
		}
		if into[b.Into] == nil {
			into[b.Into] = map[string]string{}
		}
		into[b.Into][b.Name] = b.Tip
	}
	for _, b := range plan {
		if tips := into[b.Into]; tips != nil {
			delete(into, b.Into)
			for name, err := range m.DeleteBranches(ctx, tips, b.Into) {
				kept[name] = "not merged"
				if !errors.Is(err, worktree.ErrNotMerged) {
					kept[name] = err.Error()
				}
			}
		}
		if _, stays := kept[b.Name]; !stays {
			gone = append(gone, b.Name)
		}
	}
	return gone, kept
}

// Turns is the plan for the tags and hidden refs of one agent.
type Turns struct {
	Agent   string
	Session string            // name of the turn session
	Tags    []int             // numbers
	Hidden  int               // number of refs under refs/paw, without Rescues
	Rescues []string          // refs that stay, with work that no branch has
	doomed  map[string]string // refs to delete, with their values
}

// planTurns decides which refs of agents are deleted: all that belong to turns. A rescue ref that is
// not in empty is deleted only with force, unless it holds what a check left behind (LeftRef).
func planTurns(sessionName string, agents []string, refs map[string]string, empty map[string]bool, force bool) []Turns {
	var plan []Turns
	for _, agent := range agents {
		t := Turns{Agent: agent, Session: sessionName + "_" + agent, doomed: map[string]string{}}
		for ref, oid := range refs {
			rest, hidden := strings.CutPrefix(ref, turn.RefPrefix(t.Session))
			owner, n, isTag := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/"))
			switch {
			case hidden && !force && !empty[ref] && strings.HasPrefix(rest, "rescue/") && ref != turn.LeftRef(t.Session): // may be the only copy of work
				t.Rescues = append(t.Rescues, ref)
				continue
			case hidden:
				t.Hidden++
			case isTag && owner == t.Session:
				t.Tags = append(t.Tags, n)
			default:
				continue
			}
			t.doomed[ref] = oid
		}
		slices.Sort(t.Tags)
		slices.Sort(t.Rescues)
		plan = append(plan, t)
	}
	return plan
}

// emptyRescues returns the rescue refs whose commits are on a branch that is not in going. A rewind
// of a clean worktree makes such refs. If git fails, no rescue counts as empty.
func emptyRescues(ctx context.Context, m *worktree.Manager, refs map[string]string, going []Branch) map[string]bool {
	rescues := maps.Clone(refs)
	maps.DeleteFunc(rescues, func(ref, _ string) bool {
		return !strings.HasPrefix(ref, turn.HiddenPrefix) || !strings.Contains(ref, "/rescue/")
	})
	var without []string
	for _, b := range going {
		if b.Into != "" {
			without = append(without, b.Name)
		}
	}
	alone, err := m.Refs().OnNoBranch(ctx, slices.Collect(maps.Values(rescues)), without)
	empty := map[string]bool{}
	for ref, oid := range rescues {
		empty[ref] = err == nil && !slices.Contains(alone, oid)
	}
	return empty
}

// lines describe the changes to the refs; does is a verb such as "delete".
func (t Turns) lines(does string) []string {
	var lines []string
	switch n := len(t.Tags); {
	case n == 1:
		lines = append(lines, fmt.Sprintf("%s tag %s", does, turn.TagName(t.Session, t.Tags[0])))
	case n > 1:
		lines = append(lines, fmt.Sprintf("%s %d tags, %s to %s", does, n, turn.TagName(t.Session, t.Tags[0]), turn.TagName(t.Session, t.Tags[n-1])))
	}
	if t.Hidden > 0 {
		lines = append(lines, fmt.Sprintf("%s %s under %s", does, errs.Counted(t.Hidden, "ref"), turn.RefPrefix(t.Session)))
	}
	for _, ref := range t.Rescues {
		lines = append(lines, "keep "+ref+": it holds work that was rescued")
	}
	return lines
}

// deleteTurns deletes all refs of these agents' turns in one transaction, then the logs, which
// prove that the turns belong to this repository. The refs are listed again: an agent that ended
// after the plan may have more. It returns the rescue refs that stay.
func deleteTurns(ctx context.Context, h *app.App, m *worktree.Manager, name string, agents []string, force bool) (rescues []string, err error) {
	refs, err := turnRefs(ctx, m, name, agents)
	if err != nil {
		return nil, err
	}
	plan, doomed := planTurns(name, agents, refs, emptyRescues(ctx, m, refs, nil), force), map[string]string{}
	for _, t := range plan {
		for ref, oid := range t.doomed {
			doomed[ref] = oid
		}
	}
	if err := m.Refs().Delete(ctx, doomed); err != nil {
		return nil, err
	}
	var forgotten []string
	for _, t := range plan {
		forgotten = append(forgotten, t.Session)
	}
	if err := m.States().Forget(ctx, forgotten); err != nil {
		return nil, err
	}
	for _, t := range plan {
		rescues = append(rescues, t.Rescues...)
		dir := h.TurnDir(name, t.Agent).Path
		if err := os.RemoveAll(dir); err != nil {
			return rescues, err
		}
		if len(t.Rescues) > 0 {
			// The empty folder marks whose rescue refs these are, for a later --force.
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return rescues, err
			}
		}
		h.Step("purge.turns")
	}
	err = os.Remove(filepath.Join(h.Paths.TurnsDir(), name))
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, os.ErrNotExist) {
		return rescues, nil
	}
	return rescues, err
}

// turnRefs lists the tags and hidden refs of agents.
func turnRefs(ctx context.Context, m *worktree.Manager, sessionName string, agents []string) (map[string]string, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	var prefixes []string
	for _, agent := range agents {
		turnSession := sessionName + "_" + agent
		prefixes = append(prefixes, turn.RefPrefix(turnSession), turns.TagPrefix(turnSession))
	}
	return m.Refs().List(ctx, prefixes...)
}

// checksIn returns the agent name of the worktree of checks, if it has refs.
func checksIn(space turns.Names, sessionName string) []string {
	if slices.Contains(space.Of(sessionName).All(), checks.Name) {
		return []string{checks.Name}
	}
	return nil
}

// agentsWithTurns returns the agents whose turns belong to a session with a record: its own, and
// those removed before that have turns in the repository, except turns of another user's session of
// the same name.
func agentsWithTurns(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session) ([]string, error) {
	space, err := turns.NamesOf(ctx, h, m)
	if err != nil {
		return nil, err
	}
	agents := slices.Concat(app.AgentNames(s), space.Of(s.Name).Here, checksIn(space, s.Name))
	slices.Sort(agents)
	return turns.Own(ctx, m, s, slices.Compact(agents)...)
}

// notPurged says why nothing of a session without a record can be deleted.
func notPurged(name string, earlier turns.Earlier) error {
	switch {
	case len(earlier.Elsewhere) > 0:
		return errs.New(errs.Refused, "%s: not purged: the turns of %s are in another repository, whose logs these are", name, strings.Join(earlier.Elsewhere, ", ")).
			Hint("cd to that repository or, when it is gone: paw purge %s --tags --force", name)
	case len(earlier.Stranger) > 0:
		return errs.New(errs.Refused, "%s: not purged: the turns of %s were made by a paw that keeps its records elsewhere", name, strings.Join(earlier.Stranger, ", "))
	}
	return errs.New(errs.NotFound, "%s: no such session, and no turns of one", name).Hint("paw status --all")
}
