package landing

import (
	"context"
	"maps"
	"slices"
)

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
