package teardown

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
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
	found = slices.SortedFunc(slices.Values(found), func(a, b Branch) int { return cmp.Compare(a.Name, b.Name) })
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
func planLanded(ctx context.Context, m worktree.Manager, sessionName string, agents []Agent) []Branch {
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
// of which that is unknown stays.
func lookAtBranches(ctx context.Context, m worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []Branch {
	found := lookAtTips(ctx, m, sessionName, agents, leaving)
	tips := map[string]string{}
	for _, b := range found {
		if b.made && b.Tip != "" && b.err == nil {
			tips[b.Name] = b.Tip
		}
	}
	merged, err := m.Refs().MergedBranches(ctx, tips, "HEAD")
	for i := range found {
		b := &found[i]
		if tips[b.Name] == "" {
			continue
		}
		if b.inHead, b.err = merged[b.Name], err; b.inHead || err != nil {
			continue
		}
		if b.lookAtLanding(ctx, m, leaving); b.landed == "" {
			b.also, b.err = m.Refs().Containing(ctx, b.Tip)
		}
	}
	return found
}

// lookAtTips reads the tips of the branches, who made them, and which worktrees use them.
func lookAtTips(ctx context.Context, m worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []Branch {
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
func madeByHand(m worktree.Manager, branch string) bool {
	log, err := m.Refs().PastTips(branch)
	return err == nil && len(log) > 0 && strings.HasPrefix(log[0].Why, "branch: Created from ")
}

// lookAtLanding finds out whether all of a branch has landed.
func (b *Branch) lookAtLanding(ctx context.Context, m worktree.Manager, leaving []worktree.Plan) {
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
func deleteBranches(ctx context.Context, m worktree.Manager, plan []Branch) (gone []string, kept map[string]string) {
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
