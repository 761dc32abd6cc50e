package landing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/objects"
	"paw/worktree/states"
)

// Standing says what a branch has of a landing.
type Standing string

// Standings of a landing.
const (
	InForce  Standing = "landed"        // the history of the branch has it, in its own commit or in another one
	Undone   Standing = "undone"        // undone by paw land --undo
	Reverted Standing = "reverted"      // a commit of the branch says that it reverts it
	NotIn    Standing = "not in branch" // the branch has been moved to before it, or it was left out of a rebase
	Gone     Standing = "gone"          // the branch does not exist any more
	Unknown  Standing = "unknown"       // the repository does not have its commits any more, as after its history was rewritten
)

// Stand is a landing, with its standing in its branch.
type Stand struct {
	session.Landing
	Session  string
	Standing Standing
	Commit   string   // commit of the branch that brings the landing: After, or what it was rewritten to; "" if that is not known
	Revert   string   // commit that says it reverts the landing, or a part of it; "" for none
	Made     []string // commits that a landing of several commits was rewritten to, oldest first

	tip   string // tip of the branch, "" if the branch is gone
	fewer bool   // not all commits of a landing of several are in Made
}

// stands reports whether the history of the branch has the landing, also if it was reverted.
func (s *Stand) stands() bool { return s.Standing == InForce || s.Standing == Reverted }

// rewritten reports whether the branch has the landing in another commit.
func (s *Stand) rewritten() bool { return s.stands() && s.Commit != s.After }

func (s *Stand) undone() bool { return s.Phase == session.LandingUndone }

// short returns the beginning of the state's id, which the trailer of the landing's commit has.
func (s *Stand) short() string { return s.State[:min(len(s.State), states.ShortID)] }

// landingsIn returns all landings of a branch in the records, oldest first. Of those that made the same
// commit, within the same second, the last one counts.
func (w work) landingsIn(branch string) (all []*Stand, err error) {
	sessions, err := w.siblings()
	for _, s := range sessions {
		for _, one := range s.Landings {
			if one.Target == branch && one.Phase != session.LandingBegun {
				all = append(all, &Stand{Landing: one, Session: s.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Stand) int { return cmp.Or(a.At.Compare(b.At), a.ID-b.ID) })
	return all, err
}

// standings returns all landings of a branch, by any session and agent, oldest first.
func (w work) standings(ctx context.Context, t target) ([]*Stand, error) {
	all, err := w.landingsIn(t.branch)
	if err != nil || len(all) == 0 || t.tip == "" {
		for _, one := range all {
			if one.decide(nil, nil, nil); one.Standing == NotIn {
				one.Standing = Gone
			}
		}
		return all, err
	}
	merged, err := w.mergedIn(ctx, t.tip)
	if err != nil {
		return nil, err
	}
	var named, reverts map[string]string
	if first := all[0].Before; w.Repo.Objects().Has(ctx, first) {
		if named, reverts, err = w.Repo.States().Mentioned(ctx, t.tip, first); err != nil {
			return nil, err
		}
	}
	for i, one := range all {
		one.tip = t.tip
		if same := slices.IndexFunc(all[i+1:], func(later *Stand) bool { return later.After == one.After }); same >= 0 {
			one.decide(nil, nil, nil)
			continue
		}
		one.decide(merged, named, reverts)
		switch {
		case one.Standing == NotIn && !one.there(ctx, w.Repo.Objects()):
			one.Standing = Unknown
		case one.undone() && one.stands():
			err = w.cameBack(ctx, one)
		case one.As != string(Commits) || !one.there(ctx, w.Repo.Objects()):
		case one.rewritten() && one.Commit != "":
			err = one.remade(ctx, w.Repo.Objects())
		case one.stands() && len(reverts) > 0:
			err = one.partly(ctx, w.Repo.Objects(), reverts)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, err
}

// mergedIn returns the refs of landings that a tip has: their commits in its history, their states by
// grafts.
func (w work) mergedIn(ctx context.Context, tip string) (map[string]bool, error) {
	merged, err := states.Merged(ctx, w.Repo.Objects(), tip, turn.LandedPattern, turn.FarLandedPattern)
	if err != nil {
		return nil, err
	}
	twins := []string{strings.TrimSuffix(turn.LandedPattern, "after") + "twin", strings.TrimSuffix(turn.FarLandedPattern, "after") + "twin"}
	known, err := states.Merged(ctx, w.Repo.States().Objects(), tip, twins...)
	maps.Copy(merged, known)
	return merged, err
}

// decide sets the standing of a landing. merged are the refs of landings that the branch has; named
// and reverts are as Store.Named and Store.Reverted return them.
func (s *Stand) decide(merged map[string]bool, named, reverts map[string]string) {
	ref := func(side string) bool { return merged[turn.LandedRef(s.TurnSession, s.ID, side)] }
	switch {
	case ref("after"):
		s.Standing, s.Commit = InForce, s.After
	case s.undone():
		s.Standing = Undone
	case named[s.short()] != "":
		s.Standing, s.Commit = InForce, named[s.short()]
	case ref("twin"):
		s.Standing = InForce
	default:
		s.Standing = NotIn
	}
	if s.Revert = cmp.Or(reverts[s.Commit], reverts[s.After]); s.stands() && s.Revert != "" {
		s.Standing = Reverted
	}
}

// there reports whether the repository has the commits between which the landing lies.
func (s *Stand) there(ctx context.Context, o *objects.Store) bool {
	return o.Has(ctx, s.Before) && o.Has(ctx, s.After)
}

// cameBack looks at a landing that was undone and came into the history of the branch by another way. If
// none of its files came with it, it counts as reverted.
func (w work) cameBack(ctx context.Context, one *Stand) error {
	there, err := one.hasOf(ctx, w.Repo.Objects(), one.tip)
	if !there {
		one.Standing = Reverted
	}
	return err
}

// keptBy reports whether a commit has a file as the landing has left it, and a state has not.
func (s *Stand) keptBy(ctx context.Context, o *objects.Store, commit, state string) (bool, error) {
	if !s.there(ctx, o) {
		return false, nil
	}
	all, err := o.PathsOf(ctx, [][2]string{{s.Before, s.After}, {s.After, commit}, {s.After, state}})
	if err != nil {
		return false, err
	}
	for path := range all[0] {
		if !all[1][path] && all[2][path] {
			return true, nil
		}
	}
	return false, nil
}

// hasOf reports whether a commit has a file of the landing as the landing has left it.
func (s *Stand) hasOf(ctx context.Context, o *objects.Store, commit string) (bool, error) {
	if !s.there(ctx, o) {
		return false, nil
	}
	all, err := o.PathsOf(ctx, [][2]string{{s.Before, s.After}, {s.After, commit}})
	if err != nil {
		return false, err
	}
	for path := range all[0] {
		if !all[1][path] {
			return true, nil
		}
	}
	return false, nil
}

// remade finds the commits that the landing of several commits was rewritten to: git keeps author, date and
// title.
func (s *Stand) remade(ctx context.Context, o *objects.Store) error {
	made, err := o.HistorySince(ctx, s.After, s.Before)
	if err != nil {
		return err
	}
	since, err := o.HistorySince(ctx, s.tip, s.Before)
	for _, c := range since {
		at := slices.IndexFunc(made, func(own objects.CommitInfo) bool {
			return slices.Equal(own.Author, c.Author) && !c.Merges() && display.FirstLine(own.Message) == display.FirstLine(c.Message)
		})
		if at >= 0 {
			made = slices.Delete(made, at, at+1)
		}
		if at >= 0 || c.ID == s.Commit {
			s.Made = append(s.Made, c.ID)
		}
	}
	s.fewer = len(made) > 0
	return err
}

// partly looks at the landing of several commits, of which some may be reverted.
func (s *Stand) partly(ctx context.Context, o *objects.Store, reverts map[string]string) error {
	made, err := o.HistorySince(ctx, s.After, s.Before)
	gone := 0
	for _, commit := range made {
		if by := reverts[commit.ID]; by != "" {
			gone, s.Revert = gone+1, by
		}
	}
	if s.Standing = InForce; gone == len(made) && gone > 0 {
		s.Standing = Reverted
	}
	return err
}

// Standings returns all landings of a session by number, with their standing in their branches. A
// branch that is gone has none of them.
func Standings(ctx context.Context, h *app.App, s *session.Session) ([]Stand, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := standings(ctx, work{asked: asked{Agent: app.Agent{App: h, Session: s, Repo: m}}})
	return slices.DeleteFunc(all, func(one Stand) bool { return one.Session != s.Name }), err
}

// standings is Standings with the landings of other sessions in the same branches.
func standings(ctx context.Context, w work) (all []Stand, err error) {
	for _, l := range w.Session.Landings {
		w.follow(ctx, l.Target)
	}
	return standingsOf(ctx, w, w.Session.Landings)
}

// standingsOf returns all landings in the branches of some, with their standing.
func standingsOf(ctx context.Context, w work, landings []session.Landing) (all []Stand, err error) {
	var branches []string
	for _, l := range landings {
		branches = append(branches, l.Target)
	}
	for _, branch := range app.Once(branches) {
		tip, err := w.Repo.Refs().BranchTip(ctx, branch)
		if err != nil {
			return nil, err
		}
		some, err := w.standings(ctx, target{branch: branch, tip: tip})
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			all = append(all, *one)
		}
	}
	slices.SortStableFunc(all, func(a, b Stand) int { return a.ID - b.ID })
	return all, nil
}

// siblings returns the sessions of the repository: the agent's own as given, the others from their
// records.
func (w work) siblings() ([]*session.Session, error) {
	records, err := w.allRecords()
	if err != nil {
		return nil, err
	}
	own := w.Session
	sessions := slices.DeleteFunc(slices.Clone(records), func(one *session.Session) bool { return one.GitCommonDir != own.GitCommonDir || one.Name == own.Name })
	return append(sessions, own), nil
}
