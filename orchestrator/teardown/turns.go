package teardown

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Turns is the plan for the tags and hidden refs of one agent.
type Turns struct {
	Agent   string
	Session string            // name of the turn session
	Tags    []int             // numbers
	Hidden  int               // number of refs under refs/paw, without Rescues
	Rescues []string          // refs that stay
	doomed  map[string]string // refs to delete, with their values
}

// planTurns decides which refs of agents are deleted: all that belong to turns, but rescue refs
// only with force. What a check left behind (LeftRef) is nobody's work.
func planTurns(sessionName string, agents []string, refs map[string]string, force bool) []Turns {
	var plan []Turns
	for _, agent := range agents {
		t := Turns{Agent: agent, Session: sessionName + "_" + agent, doomed: map[string]string{}}
		for ref, oid := range refs {
			rest, hidden := strings.CutPrefix(ref, turn.RefPrefix(t.Session))
			owner, n, isTag := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/"))
			switch {
			case hidden && !force && strings.HasPrefix(rest, "rescue/") && ref != turn.LeftRef(t.Session): // may be the only copy of work
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
func deleteTurns(ctx context.Context, h *app.App, m worktree.Manager, name string, agents []string, force bool) (rescues []string, err error) {
	refs, err := turnRefs(ctx, m, name, agents)
	if err != nil {
		return nil, err
	}
	plan, doomed := planTurns(name, agents, refs, force), map[string]string{}
	for _, t := range plan {
		for ref, oid := range t.doomed {
			doomed[ref] = oid
		}
	}
	if err := m.Refs().Delete(ctx, doomed); err != nil {
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
func turnRefs(ctx context.Context, m worktree.Manager, sessionName string, agents []string) (map[string]string, error) {
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
	if space.Agents(sessionName)[landing.CheckName] {
		return []string{landing.CheckName}
	}
	return nil
}

// agentsWithTurns returns the agents whose turns belong to a session with a record: its own, and
// those removed before that have turns in the repository, except turns of another user's session of
// the same name.
func agentsWithTurns(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session) ([]string, error) {
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
