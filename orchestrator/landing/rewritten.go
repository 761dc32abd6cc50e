package landing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/worktree/objects"
)

// lookForRewritten looks for landings that are not in the tip's history, in rewritten form.
func (l *looker) lookForRewritten(ctx context.Context, facts []landingFacts) error {
	var gone []int
	for i := range l.all {
		if !facts[i].inTip && !facts[i].anew && (l.all[i].Phase != session.LandingOffered || l.all[i].picked()) {
			gone = append(gone, i)
		}
	}
	found, err := l.rewrittenIn(ctx, l.tip, gone)
	for i, c := range found {
		l.all[i].Commit, l.all[i].merges, facts[i].rewritten = c.ID, len(c.Parents) > 1, c.ID
	}
	return err
}

// rewrittenIn finds the commits of a history that landings were rewritten to, by trailers or patch
// ids: amended, rebased or squashed.
func (l *looker) rewrittenIn(ctx context.Context, tip string, gone []int) (map[int]objects.CommitInfo, error) {
	befores := []string{tip}
	afters := map[string]bool{}
	for i := range l.all {
		afters[l.all[i].After] = true
	}
	gone = slices.DeleteFunc(slices.Clone(gone), func(i int) bool {
		return l.refs[turn.LandedRef(l.all[i].TurnSession, l.all[i].ID, "before")] != l.all[i].Before
	})
	for _, i := range gone {
		befores = append(befores, l.all[i].Before)
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

func (l *looker) matchRewritten(ctx context.Context, gone []int, commits []objects.CommitInfo) (map[int]objects.CommitInfo, error) {
	made := map[int][]objects.CommitInfo{} // commits of each landing
	var ids []string
	for _, c := range commits {
		ids = append(ids, c.ID)
	}
	for _, i := range gone {
		var err error
		if made[i], err = l.m.Objects().HistorySince(ctx, l.all[i].After, l.all[i].Before); err != nil {
			return nil, err
		}
		for _, c := range made[i] {
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
	authored := map[string]string{} // author with time, by commit; an amend or rebase keeps both
	for _, c := range commits {
		authored[c.ID] = strings.Join(c.Author, "")
	}
	madeAt := map[string][]int{}
	for _, i := range gone {
		for _, own := range made[i] {
			if own.ID == l.all[i].After {
				when := strings.Join(own.Author, "")
				madeAt[when] = append(madeAt[when], i)
			}
		}
	}
	found := map[int]objects.CommitInfo{}
	for _, i := range gone {
		one := &l.all[i]
		free := slices.DeleteFunc(slices.Clone(commits), func(c objects.CommitInfo) bool { // without commits that other landings were amended or rebased to
			by := madeAt[authored[c.ID]]
			return !slices.Contains(by, i) && slices.ContainsFunc(by, func(k int) bool { return l.all[k].Agent == one.Agent && l.all[k].Turns == one.Turns })
		})
		commit, is := rewritten(one, made[i], free, patches, func(c objects.CommitInfo) bool {
			for path := range paths[one.After] {
				if _, has := paths[c.ID][path]; !has && !l.undid(path, l.saidBy(c, gone), paths) {
					return false
				}
			}
			return true
		})
		if is {
			found[i] = commit
		}
	}
	return found, nil
}

// saidBy returns the landings that a commit names in its trailers, oldest first.
func (l *looker) saidBy(c objects.CommitInfo, some []int) (said []int) {
	has := trailersIn(c.Message)
	for _, i := range some {
		if slices.Contains(has, l.all[i].trailer()) {
			said = append(said, i)
		}
	}
	return said
}

// undid reports whether several landings together left a path as it was before the first of them.
func (l *looker) undid(path string, landings []int, paths map[string]map[string]objects.BlobChange) bool {
	first, last := "", ""
	for _, i := range landings {
		if change, has := paths[l.all[i].After][path]; has {
			if first == "" {
				first = change.From
			}
			last = change.To
		}
	}
	return first != "" && first == last
}

// pathsOf returns the paths changed by landings and by commits with paw's trailers, by commit.
func (l *looker) pathsOf(ctx context.Context, gone []int, commits []objects.CommitInfo) (map[string]map[string]objects.BlobChange, error) {
	var pairs [][2]string
	for _, i := range gone {
		pairs = append(pairs, [2]string{l.all[i].Before, l.all[i].After})
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
func (l *looker) revertOf(ctx context.Context, one *Stand) (string, error) {
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
		var rest []int
		for i := range a.led.all {
			one := &a.led.all[i]
			if !one.offered() && one.Before != "" && !had[one.After] && len(h.lacking("", []string{h.nodeOf(a, one)}, line)) > 0 {
				rest = append(rest, i)
			}
		}
		rest = slices.DeleteFunc(rest, func(i int) bool {
			return slices.ContainsFunc(a.led.all, func(one Stand) bool {
				return had[one.After] && one.Session == a.led.all[i].Session && slices.Contains(a.led.all[i].Instead, one.ID)
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
	var rest []int
	for i := range a.led.all {
		earlier := &a.led.all[i]
		if earlier.TurnSession == one.TurnSession && earlier.ID < one.ID && !earlier.offered() && earlier.Before != "" && !had[earlier.After] {
			rest = append(rest, i)
		}
	}
	return a.linkRewritten(ctx, h, one.Before, rest)
}

// linkRewritten links landings to the commits in a commit's history that they were rewritten to.
func (a *asker) linkRewritten(ctx context.Context, h *history, commit string, landings []int) error {
	if len(landings) == 0 {
		return nil
	}
	rewritten, err := a.led.looker.rewrittenIn(ctx, commit, landings)
	if err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(rewritten)) {
		if node := h.nodeOf(a, &a.led.all[i]); node != "" && h.real[rewritten[i].ID] != nil && !h.all(node)[rewritten[i].ID] {
			h.landed.link(rewritten[i].ID, node)
		}
	}
	return nil
}
