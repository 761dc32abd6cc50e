package landing

import (
	"context"
	"slices"
	"strings"

	"paw/session/turn"
	"paw/worktree/objects"
)

// lookForRewritten looks for landings that are not in the tip's history, in rewritten form.
func (l *ledger) lookForRewritten(ctx context.Context) error {
	gone := slices.DeleteFunc(slices.Clone(l.all), func(one *Stand) bool { return one.inTip || one.anew || one.offered() && !one.picked() })
	found, err := l.rewrittenIn(ctx, l.tip, gone)
	for one, c := range found {
		one.Commit, one.merges, one.rewritten = c.ID, c.Merges(), c.ID
	}
	return err
}

// rewrittenIn finds the commits of a history that landings were rewritten to, by trailers or patch
// ids: amended, rebased or squashed.
func (l *ledger) rewrittenIn(ctx context.Context, tip string, gone []*Stand) (map[*Stand]objects.CommitInfo, error) {
	befores := []string{tip}
	afters := map[string]bool{}
	for _, one := range l.all {
		afters[one.After] = true
	}
	gone = slices.DeleteFunc(slices.Clone(gone), func(one *Stand) bool { return !l.keepsBefore(one) })
	for _, one := range gone {
		befores = append(befores, one.Before)
	}
	if len(gone) == 0 {
		return nil, nil
	}
	base, err := l.m.Objects().CommonBase(ctx, befores...)
	if err != nil || base == "" {
		return nil, err
	}
	commits, err := l.m.Objects().HistorySince(ctx, tip, base)
	commits = slices.DeleteFunc(commits, func(c objects.CommitInfo) bool { return afters[c.ID] })
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	return l.matchRewritten(ctx, gone, commits)
}

func (l *ledger) matchRewritten(ctx context.Context, gone []*Stand, commits []objects.CommitInfo) (map[*Stand]objects.CommitInfo, error) {
	made := map[*Stand][]objects.CommitInfo{} // commits of each landing
	var ids []string
	for _, c := range commits {
		ids = append(ids, c.ID)
	}
	for _, one := range gone {
		var err error
		if made[one], err = l.m.Objects().HistorySince(ctx, one.After, one.Before); err != nil {
			return nil, err
		}
		for _, c := range made[one] {
			ids = append(ids, c.ID)
		}
	}
	patches, err := l.m.Objects().PatchIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	paths, err := l.pathsOf(ctx, gone, commits)
	if err != nil {
		return nil, err
	}
	authored := map[*Stand]string{} // author with time; an amend or rebase keeps both
	for _, one := range gone {
		for _, own := range made[one] {
			if own.ID == one.After {
				authored[one] = strings.Join(own.Author, "")
			}
		}
	}
	found := map[*Stand]objects.CommitInfo{}
	for _, one := range gone {
		free := slices.DeleteFunc(slices.Clone(commits), func(c objects.CommitInfo) bool { // without commits that other landings were amended or rebased to
			by := strings.Join(c.Author, "")
			return authored[one] != by && slices.ContainsFunc(gone, func(other *Stand) bool {
				return authored[other] == by && other.Agent == one.Agent && other.Turns == one.Turns
			})
		})
		commit, is := rewritten(one, made[one], free, patches, func(c objects.CommitInfo) bool {
			for path := range paths[one.After] {
				if _, has := paths[c.ID][path]; !has && !undid(path, saidBy(c, gone), paths) {
					return false
				}
			}
			return true
		})
		if is {
			found[one] = commit
		}
	}
	return found, nil
}

// keepsBefore reports whether a ref keeps the commit that the branch was at before a landing.
func (l *ledger) keepsBefore(one *Stand) bool {
	return l.refs[turn.LandedRef(one.TurnSession, one.ID, "before")] == one.Before
}

// saidBy returns the landings that a commit names in its trailers, oldest first.
func saidBy(c objects.CommitInfo, some []*Stand) []*Stand {
	has := trailersIn(c.Message)
	return slices.DeleteFunc(slices.Clone(some), func(one *Stand) bool { return !slices.Contains(has, one.trailer()) })
}

// undid reports whether several landings together left a path as it was before the first of them.
func undid(path string, landings []*Stand, paths map[string]map[string]objects.BlobChange) bool {
	first, last := "", ""
	for _, one := range landings {
		if change, has := paths[one.After][path]; has {
			if first == "" {
				first = change.From
			}
			last = change.To
		}
	}
	return first != "" && first == last
}

// pathsOf returns the paths changed by landings and by commits with paw's trailers, by commit.
func (l *ledger) pathsOf(ctx context.Context, gone []*Stand, commits []objects.CommitInfo) (map[string]map[string]objects.BlobChange, error) {
	var pairs [][2]string
	for _, one := range gone {
		pairs = append(pairs, [2]string{one.Before, one.After})
	}
	for _, c := range commits {
		if len(c.Parents) > 0 && len(trailersIn(c.Message)) > 0 {
			pairs = append(pairs, [2]string{c.Parents[0], c.ID})
		}
	}
	changes, err := l.m.Objects().BlobChanges(ctx, pairs)
	if err != nil {
		return nil, err
	}
	paths := map[string]map[string]objects.BlobChange{}
	for i, pair := range pairs {
		paths[pair[1]] = changes[i]
	}
	return paths, nil
}

// rewritten returns the commit that a landing was rewritten to: a merge of the same parents, the
// commit with the same patch or, by trailers, with the same turns of the same agent. For a landing
// of several commits, each must have a commit with the same patch.
func rewritten(one *Stand, made, commits []objects.CommitInfo, patches map[string]string, covers func(objects.CommitInfo) bool) (c objects.CommitInfo, found bool) {
	if c, found = sameMerge(one, made, commits); found {
		return c, true
	}
	if c, found = samePatches(made, commits, patches); found {
		return c, true
	}
	for _, c := range slices.Backward(commits) {
		if slices.Contains(trailersIn(c.Message), one.trailer()) && covers(c) {
			return c, true
		}
	}
	return objects.CommitInfo{}, false
}

// sameMerge returns the commit that merges the same commits as the merge of a landing.
func sameMerge(one *Stand, made, commits []objects.CommitInfo) (objects.CommitInfo, bool) {
	own := slices.IndexFunc(made, func(c objects.CommitInfo) bool { return c.ID == one.After && c.Merges() })
	if own < 0 {
		return objects.CommitInfo{}, false
	}
	at := slices.IndexFunc(commits, func(c objects.CommitInfo) bool {
		return c.Merges() && slices.Equal(c.Parents[1:], made[own].Parents[1:])
	})
	if at < 0 {
		return objects.CommitInfo{}, false
	}
	return commits[at], true
}

// samePatches returns the last of the commits with the patches of a landing, if all are there.
// Reverts are ignored: a revert of a later landing can have the same patch.
func samePatches(made, commits []objects.CommitInfo, patches map[string]string) (last objects.CommitInfo, all bool) {
	for _, own := range made {
		if own.Merges() {
			continue
		}
		same := slices.IndexFunc(commits, func(c objects.CommitInfo) bool {
			return patches[own.ID] != "" && patches[c.ID] == patches[own.ID] && !strings.Contains(c.Message, "This reverts commit ")
		})
		if same < 0 {
			return objects.CommitInfo{}, false
		}
		last, all = commits[same], true
	}
	return last, all
}

// trailer names the agent and the turns of a commit's work.
type trailer struct{ agent, turns string }

func (s *Stand) trailer() trailer { return trailer{s.Session + "/" + s.Agent, s.Turns} }

// trailersIn returns paw's trailers in a message, several for squashed commits.
func trailersIn(message string) []trailer {
	var found []trailer
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if agent, ok := strings.CutPrefix(line, "Paw-Agent: "); ok {
			found = append(found, trailer{agent: agent})
		} else if turns, ok := strings.CutPrefix(line, "Paw-Turns: "); ok && len(found) > 0 && found[len(found)-1].turns == "" {
			found[len(found)-1].turns = turns
		}
	}
	return found
}

// revertOf returns the commit that says it reverts a landing, "" for none.
func (l *ledger) revertOf(ctx context.Context, one *Stand) (string, error) {
	commits, err := l.m.Objects().CommitsSince(ctx, l.tip, one.Commit)
	for _, c := range slices.Backward(commits) {
		if strings.Contains(c.Message, "This reverts commit "+one.Commit) {
			return c.ID, err
		}
	}
	return "", err
}

// linkLeft links commits that the branch has left to landings that these commits contain in
// rewritten form, amended or rebased.
func (a *asker) linkLeft(ctx context.Context, h *history, left []string, line []point) error {
	for _, commit := range left {
		had := h.all(commit)
		rest := slices.DeleteFunc(slices.Clone(a.led.all), func(one *Stand) bool {
			return one.offered() || one.Before == "" || had[one.After] || len(h.lacking("", []string{h.nodeOf(a, one)}, line)) == 0 ||
				slices.ContainsFunc(a.led.all, func(by *Stand) bool {
					return had[by.After] && by.Session == one.Session && slices.Contains(one.Instead, by.ID)
				})
		})
		if err := a.linkRewritten(ctx, h, commit, rest); err != nil {
			return err
		}
	}
	return nil
}

// linkBefore links the branch before a landing to the agent's earlier landings that the branch had
// in rewritten form then.
func (a *asker) linkBefore(ctx context.Context, h *history, one *Stand) error {
	had := h.all(one.Before)
	rest := slices.DeleteFunc(a.led.of(one.TurnSession), func(earlier *Stand) bool {
		return earlier.ID >= one.ID || earlier.offered() || earlier.Before == "" || had[earlier.After]
	})
	return a.linkRewritten(ctx, h, one.Before, rest)
}

// linkRewritten links landings to the commits in a commit's history that they were rewritten to.
func (a *asker) linkRewritten(ctx context.Context, h *history, commit string, landings []*Stand) error {
	found, err := a.led.rewrittenIn(ctx, commit, landings)
	for _, one := range landings {
		made, is := found[one]
		if !is || h.real[made.ID] == nil {
			continue
		}
		if node := h.nodeOf(a, one); node != "" && !h.all(node)[made.ID] {
			h.landed.link(made.ID, node)
		}
	}
	return err
}
