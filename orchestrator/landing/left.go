package landing

import (
	"maps"
	"slices"
)

// lookForLeft finds commits that the branch, or the session's target, once had and the branch lacks
// now. If an agent has them, it got them from there. Only first parents count, because a merge
// brings commits that were made elsewhere. Commits that the agent made itself are its work, also if
// the branch had them for a while.
func (a *asker) lookForLeft(h *history) error {
	h.gone, h.left, h.made = map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}
	for _, commit := range a.led.past {
		for h.parents[commit] != nil && !h.inTip[commit] && !h.gone[commit] {
			h.gone[commit] = true
			if len(h.parents[commit]) == 0 {
				break
			}
			commit = h.parents[commit][0]
		}
	}
	if len(h.gone) == 0 {
		return nil
	}
	if err := a.lookForMade(h); err != nil {
		return err
	}
	maps.Copy(h.left, h.gone)
	maps.DeleteFunc(h.left, func(one string, _ bool) bool { return h.made[h.agent][one] })
	return nil
}

// leftOf returns the newest commits in a commit's history that the branch has left. The one the
// agent got last comes first.
func (h *history) leftOf(commit string) []string {
	got := h.from.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	left := h.real.newest(got)
	last := h.real.history(h.gotLast(commit))
	first := slices.DeleteFunc(slices.Clone(left), func(one string) bool { return !last[one] })
	return append(first, slices.DeleteFunc(left, func(one string) bool { return last[one] })...)
}

// hasLeft reports whether git's history of a commit has commits that the branch has left, also if
// an update has taken them out since.
func (h *history) hasLeft(commit string) bool {
	has := h.real.history(commit)
	for left := range h.left {
		if has[left] {
			return true
		}
	}
	return false
}

// gotLast returns the commit that an agent got from the branch last, following the first parents of
// its commits; "" if unknown.
func (h *history) gotLast(commit string) string {
	had := func(one string) bool { return h.inTip[one] || h.left[one] }
	for {
		if had(commit) {
			return commit
		}
		from := h.parents[commit]
		for _, merged := range from[min(1, len(from)):] {
			if had(merged) {
				return merged
			}
		}
		if len(from) == 0 {
			return ""
		}
		commit = from[0]
	}
}

// gotWith returns what came with the commits that the branch has left: their history, without
// commits that the agent made itself.
func (h *history) gotWith(commit string) map[string]bool {
	got := h.real.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	got = h.real.history(slices.Collect(maps.Keys(got))...)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return h.made[h.agent][one] })
	return got
}
