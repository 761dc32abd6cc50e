package landing

import (
	"context"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// lookAtRecords adds the landings and lives in the records of sessions.
func (l *looker) lookAtRecords(sessions []*session.Session) {
	for _, one := range sessions {
		landings := map[string][]session.Landing{}
		for _, landing := range one.Landings {
			landings[landing.TurnSession] = append(landings[landing.TurnSession], landing)
			if landing.Target == l.target {
				l.all = append(l.all, Stand{Landing: landing, Session: one.Name})
			}
		}
		l.addLives(one, landings)
	}
	slices.SortStableFunc(l.all, byAge)
}

// addLives adds the lives of a session's agents, including agents that were removed after a
// landing.
func (l *looker) addLives(s *session.Session, landings map[string][]session.Landing) {
	for i := range s.Agents {
		w := &s.Agents[i]
		from, fromSession := originOf(s, w.From)
		life := lifeOf(w.TurnSession, lastTurn(landings[w.TurnSession], w.TurnHighWater), landings[w.TurnSession], w.Shifts, from, fromSession)
		life.branch = w.Branch
		life.start = w.Start()
		l.lives[w.TurnSession] = life
	}
	for i := range s.Agents {
		if w := &s.Agents[i]; w.From != nil && w.From.Within {
			if from := s.Agent(w.From.Agent); from != nil {
				l.lives.startWithin(w.TurnSession, from.TurnSession, w.From)
			}
		}
	}
	for turnSession, own := range landings {
		if _, known := l.lives[turnSession]; !known {
			from, fromSession := originOf(s, began(own))
			life := lifeOf(turnSession, lastTurn(own, 0), own, nil, from, fromSession)
			if from != nil {
				life.start = from.Snapshot
			}
			l.lives[turnSession] = life
		}
	}
}

// lastTurn returns the highest known number of a turn.
func lastTurn(landings []session.Landing, last int) int {
	for _, one := range landings {
		last = max(last, one.LastTurn, one.Turn)
	}
	return last
}

// addElsewhere adds landings in other branches, if these were merged into this one, or are the
// target of the session.
func (l *looker) addElsewhere(sessions []*session.Session, usual string, merged []string) {
	for _, s := range sessions {
		for _, one := range s.Landings {
			ref := turn.LandedRef(one.TurnSession, one.ID, "after")
			if one.Target != l.target && one.Phase == session.LandingDone && l.refs[ref] == one.After && (one.Target == usual || slices.Contains(merged, ref)) {
				l.all = append(l.all, Stand{Landing: one, Session: s.Name})
			}
		}
	}
	slices.SortStableFunc(l.all, byAge)
}

// addUnrecorded adds landings whose session has no record any more, if the tip's history has them.
// Their branch is unknown.
func (l *looker) addUnrecorded(merged []string) {
	known := map[string]bool{}
	for _, one := range l.all {
		known[turn.LandedRef(one.TurnSession, one.ID, "after")] = true
	}
	for _, ref := range merged {
		turnSession, k, _, ok := turn.ParseLanded(ref)
		if _, recorded := l.lives[turnSession]; !ok || known[ref] || recorded {
			continue
		}
		l.all = append(l.all, Stand{Landing: session.Landing{
			ID: k, TurnSession: turnSession, Target: l.target, Phase: session.LandingDone, After: l.refs[ref],
			Before: l.refs[turn.LandedRef(turnSession, k, "before")], State: l.refs[turn.LandedRef(turnSession, k, "state")],
		}})
	}
	slices.SortStableFunc(l.all, byAge)
}

// siblings returns the sessions of a repository: s as given, the others from their records.
// siblings settles shifts of agents that were interrupted.
func siblings(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session) ([]*session.Session, error) {
	records, _, err := h.Store.ListAll()
	if err != nil {
		return nil, err
	}
	return siblingsIn(ctx, m, s, records), nil
}

// siblingsIn is siblings with records that were read before.
func siblingsIn(ctx context.Context, m worktree.Manager, s *session.Session, records []*session.Session) []*session.Session {
	sessions := slices.DeleteFunc(slices.Clone(records), func(one *session.Session) bool { return one.GitCommonDir != s.GitCommonDir || one.Name == s.Name })
	sessions = append(sessions, s)
	for _, one := range sessions {
		for i := range one.Agents {
			turns.SettleShift(ctx, m, &one.Agents[i])
		}
	}
	return sessions
}
