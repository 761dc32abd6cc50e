package landing

import "context"

// lookAhead is a look at a target and at what has landed in it, made while the agent's state is
// taken. Nobody else lands meanwhile. A nil lookAhead has seen nothing.
type lookAhead struct {
	seen  target
	asker *asker
	// region is the history of the branch and of HEAD of the agent's worktree, nil if it could not
	// be read.
	region *region
	err    error // of the target
	done   chan struct{}
	stop   context.CancelFunc
}

// lookAhead begins the look for an agent whose turns are known.
func (w work) lookAhead(ctx context.Context, src *source, branch string, again bool) *lookAhead {
	records, err := w.allRecords()
	if err != nil {
		return nil
	}
	w.records = records
	siblingsIn(ctx, w.Repo, w.Session, records) // decides what the look beside the taking of the state then only reads
	w.countTurns(src)
	ctx, stop := context.WithCancel(ctx)
	a := &lookAhead{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(a.done)
		if a.seen, a.err = w.lookAtTarget(ctx, branch); a.err == nil {
			a.asker, _ = w.askerFor(ctx, a.seen, again) // asked again after an error
		}
		if a.asker != nil {
			a.region = a.asker.lookAtHead(ctx)
		}
	}()
	return a
}

// wait waits for the end of the look.
func (a *lookAhead) wait() {
	if a != nil {
		<-a.done
		a.stop()
	}
}

// target returns the target, looked at now if there was no look ahead.
func (a *lookAhead) target(ctx context.Context, w work, branch string) (target, error) {
	if a == nil {
		return w.lookAtTarget(ctx, branch)
	}
	return a.seen, a.err
}

// askerFor returns the asker of the look ahead, or of a look now. Where the state was taken at the
// HEAD that the look ahead has seen, the asker knows its history.
func (a *lookAhead) askerFor(ctx context.Context, w work, t target, again bool, src *source) (*asker, error) {
	if a == nil || a.asker == nil || a.seen != t {
		return w.askerFor(ctx, t, again)
	}
	if a.region.addState(src.state, src.head) {
		a.asker.region = a.region
	}
	return a.asker, nil
}

// lookAtHead reads the region of the branch and HEAD of the agent's worktree, nil after an error.
func (a *asker) lookAtHead(ctx context.Context) *region {
	head, err := a.Repo.Refs().WorktreeHead(ctx, a.Record.WorktreePath)
	if err != nil || len(a.led.all)+len(a.led.past) == 0 && a.handed == "" {
		return nil
	}
	now := a.point(0)
	one := state{head, &now}
	kin := a.kinOf(one)
	lives, err := a.commitsOf(ctx, kin)
	if err != nil {
		return nil
	}
	r, err := a.lookAtRegion(ctx, kin, lives, a.looked(one)...)
	if err != nil {
		return nil
	}
	r.head = head
	return r
}

// addState adds a state that was taken at a commit to the region of that commit. It reports whether
// this is such a region.
func (r *region) addState(state, at string) bool {
	if r == nil || r.head != at {
		return false
	}
	if state != at && r.parents[state] == nil {
		r.parents[state] = []string{at}
		r.tips = append(r.tips, state)
	}
	return true
}
