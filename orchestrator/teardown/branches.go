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

// Branch is the plan for the branch of a removed agent.
type Branch struct {
	Agent string
	Name  string
	Tip   string
	Into  string // HEAD, a ref or a commit that has all commits of the branch; "" when the branch stays
	Why   string // reason for deleting or keeping the branch
	Gone  bool   // renamed or deleted by somebody else
}

type branchFacts struct {
	agent, name string
	made        bool   // made by paw
	tip         string // "" when the branch does not exist
	err         error  // why the facts are unknown, nil when they are known
	holder      string // remaining worktree that has the branch checked out
	inHead      bool   // HEAD has all commits of the branch
	landed      string // commit of a landing that has all commits of the branch
	also        []string
}

// planBranches decides which branches are deleted: those that paw made and whose commits are kept
// elsewhere. A branch that is itself deleted keeps no commits.
func planBranches(found []branchFacts) []Branch {
	found = slices.SortedFunc(slices.Values(found), func(a, b branchFacts) int { return cmp.Compare(a.name, b.name) })
	goes := map[string]bool{}
	for _, f := range found {
		goes["refs/heads/"+f.name] = f.goes() && (f.inHead || f.landed != "")
	}
	var plan []Branch
	for _, f := range found {
		if f.gone() {
			continue
		}
		b := Branch{Agent: f.agent, Name: f.name, Tip: f.tip}
		switch other := f.elsewhere(goes); {
		case !f.made:
			b.Why = "paw did not make it"
		case f.err != nil:
			b.Why = f.err.Error()
		case !f.inHead && f.landed == "" && other == "":
			b.Why = "not merged"
		case f.holder != "":
			b.Why = "checked out at " + f.holder
		case f.inHead:
			b.Into, b.Why = "HEAD", "HEAD has it"
		case f.landed != "":
			b.Into, b.Why = f.landed, "it has landed"
		default:
			b.Into, b.Why = other, other+" has it"
			goes["refs/heads/"+f.name] = true
		}
		plan = append(plan, b)
	}
	return plan
}

// planLanded decides which branches are deleted with removed agents: only those that have landed.
func planLanded(found []branchFacts) []Branch {
	var plan []Branch
	for _, f := range found {
		b := Branch{Agent: f.agent, Name: f.name, Tip: f.tip, Gone: f.gone()}
		if f.goes() && f.landed != "" {
			b.Into, b.Why = f.landed, "it has landed"
		}
		plan = append(plan, b)
	}
	return plan
}

// gone reports whether the branch does not exist.
func (f branchFacts) gone() bool { return f.err == nil && f.tip == "" }

// goes reports whether the branch may be deleted if its commits are kept elsewhere.
func (f branchFacts) goes() bool { return f.made && f.err == nil && f.tip != "" && f.holder == "" }

// elsewhere returns another branch, or a tag that is no turn tag, that has the branch's commits and
// stays, "" for none.
func (f branchFacts) elsewhere(goes map[string]bool) string {
	for _, ref := range f.also {
		if ref != "refs/heads/"+f.name && !goes[ref] && !strings.HasPrefix(ref, "refs/tags/"+turn.TagPrefix) {
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

// lookAtBranches gathers the facts of agents' branches: whether HEAD has them, whether they have
// landed, and which other refs have them. leaving are the worktrees that are removed too. A branch
// with unknown facts stays.
func lookAtBranches(ctx context.Context, m worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []branchFacts {
	found := lookAtTips(ctx, m, sessionName, agents, leaving)
	tips := map[string]string{}
	for _, f := range found {
		if f.made && f.tip != "" && f.err == nil {
			tips[f.name] = f.tip
		}
	}
	merged, err := m.Refs().MergedBranches(ctx, tips, "HEAD")
	for i := range found {
		f := &found[i]
		if tips[f.name] == "" {
			continue
		}
		if f.inHead, f.err = merged[f.name], err; f.inHead || err != nil {
			continue
		}
		if f.lookAtLanding(ctx, m, leaving); f.landed == "" {
			f.also, f.err = m.Refs().Containing(ctx, f.tip)
		}
	}
	return found
}

// lookAtLandings is like lookAtBranches, but only looks whether branches have landed.
func lookAtLandings(ctx context.Context, m worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []branchFacts {
	found := lookAtTips(ctx, m, sessionName, agents, leaving)
	for i := range found {
		found[i].lookAtLanding(ctx, m, leaving)
	}
	return found
}

// lookAtTips reads the tips of the branches, who made them, and which worktrees use them.
func lookAtTips(ctx context.Context, m worktree.Manager, sessionName string, agents []session.Agent, leaving []worktree.Plan) []branchFacts {
	found := make([]branchFacts, len(agents))
	holders, err := m.Registry().Holders(ctx, leaving...)
	for i, w := range agents {
		f := &found[i]
		*f = branchFacts{agent: w.Name, name: w.Branch, made: app.MadeByPaw(sessionName, w), err: err, holder: holders[w.Branch]}
		if err == nil {
			f.tip, f.err = m.Refs().Tip(ctx, w.Branch)
		}
		if f.made && !w.BranchCreated && madeByHand(m, w.Branch) {
			f.made = false
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
func (f *branchFacts) lookAtLanding(ctx context.Context, m worktree.Manager, leaving []worktree.Plan) {
	i := slices.IndexFunc(leaving, func(p worktree.Plan) bool { return p.Branch == f.name && p.Saved != "" })
	if i < 0 || !f.made || f.tip == "" || f.err != nil {
		return
	}
	if there, err := m.Objects().Contains(ctx, leaving[i].Saved, f.tip); err == nil && there {
		f.landed = leaving[i].Saved
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
