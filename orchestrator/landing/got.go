package landing

import (
	"context"
	"slices"

	"paw/session"
)

// past are the commits that the branch has left, without those that have a commit which the agent made itself and the branch has not: that is
// the agent's work, also when the branch had it for a while.
func (a *asker) past(ctx context.Context) ([]string, error) {
	if len(a.led.past) == 0 {
		return nil, nil
	}
	made, err := a.m.MadeOn(a.agent.Branch)
	if err != nil || len(made) == 0 {
		return a.led.past, err
	}
	own, err := a.m.Reaching(ctx, a.led.past, made, a.t.tip)
	return slices.DeleteFunc(slices.Clone(a.led.past), func(commit string) bool { return own[commit] }), err
}

// withoutLeft are bases without those that the branch has left, where these contradict what the agent has got since: states of other agents come
// after them.
func (a *asker) withoutLeft(ctx context.Context, bases []string, got string) ([]string, error) {
	if len(bases) < 2 {
		return bases, nil
	}
	if _, clean, err := a.mergeAll(ctx, bases); err != nil || clean {
		return bases, err
	}
	tips, err := a.past(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range a.led.all {
		if one.Commit != one.After && one.Phase != session.LandingOffered {
			tips = append(tips, one.After)
		}
	}
	if tips, err = a.m.Present(ctx, tips); err != nil {
		return nil, err
	}
	var rest []string
	for _, base := range bases {
		in, err := a.m.Contains(ctx, got, base)
		if err != nil {
			return nil, err
		}
		if left, err := a.m.Within(ctx, base, tips); err != nil || left && !in {
			if err != nil {
				return nil, err
			}
			continue
		}
		rest = append(rest, base)
	}
	if len(rest) == 0 {
		return bases, nil
	}
	return rest, nil
}

// withoutOld are bases without states of the agent that landed and that it got from the branch since: what it got is newer. What the branch has
// left of the history of such a state stays.
func (a *asker) withoutOld(ctx context.Context, bases []string, got string, inState map[string]bool, had []string) (rest []string, err error) {
	var told []string
	for _, one := range a.led.all {
		if one.Phase != session.LandingOffered && inState[one.After] && one.State != "" {
			told = append(told, one.State)
		}
	}
	if len(bases) < 2 || len(told) == 0 {
		return bases, nil
	}
	for _, base := range bases {
		if in, err := a.m.Contains(ctx, got, base); err != nil {
			return nil, err
		} else if !in {
			if old, err := a.m.Within(ctx, base, told); err != nil {
				return nil, err
			} else if old {
				continue
			}
		}
		rest = append(rest, base)
	}
	if len(rest) == 0 || len(rest) == len(bases) {
		return bases, nil
	}
	all := rest
	for _, commit := range had {
		in, err := a.m.Within(ctx, commit, all)
		if err != nil {
			return nil, err
		}
		if !in {
			all = append(slices.Clone(all), commit)
		}
	}
	if _, clean, err := a.mergeAll(ctx, all); err != nil || clean {
		return all, err
	}
	return rest, nil
}

// hadOf are those of the commits that the branch has left which a state comes after.
func (a *asker) hadOf(ctx context.Context, state string, past []string) ([]string, error) {
	past, err := a.m.Present(ctx, past)
	if err != nil || len(past) == 0 {
		return nil, err
	}
	return a.m.MergeBases(ctx, state, past...)
}

// gotLast is what the agent got from the branch last, as far as the history of its commits tells: the tip itself as long as that comes
// after it. What the branch has left since is not the agent's work.
func (a *asker) gotLast(ctx context.Context, state string, past []string) (string, error) {
	tips := map[string]bool{}
	for _, tip := range past {
		tips[tip] = true
	}
	for i := range a.led.all {
		if one := &a.led.all[i]; one.Commit != one.After && one.Phase != session.LandingOffered {
			tips[one.After], tips[one.Before] = true, true
		}
	}
	if len(tips) == 0 {
		return a.t.tip, nil
	}
	tips[a.t.tip], tips[a.agent.BaseCommit] = true, true
	history, err := a.m.FirstParents(ctx, state)
	if err != nil {
		return "", err
	}
	for _, parents := range history { // a commit, and what was merged there
		for _, commit := range parents {
			if !tips[commit] {
				continue
			}
			if there, err := a.m.Contains(ctx, a.t.tip, commit); there || err != nil {
				return a.t.tip, err
			}
			return commit, nil
		}
	}
	return a.t.tip, nil
}
