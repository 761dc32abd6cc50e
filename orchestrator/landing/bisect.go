package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/objects"
	"paw/worktree/states"
)

// BisectMain finds the landing by which the session's target came to fail checks, and the turn in it.
func BisectMain(ctx context.Context, h *app.App, s *session.Session, commands []string) (*checks.Broken, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	w, t := work{asked: asked{Agent: app.Agent{App: h, Session: s, Repo: m.Remembering()}}}, target{branch: s.Target}
	c := &checks.Checker{App: h, Session: s, Repo: w.Repo}
	if c.Commands, err = checks.Some(h, s.Name, commands, "paw bisect --help"); err != nil {
		return nil, err
	}
	if t.tip, err = tipOf(ctx, m, t.branch); err != nil {
		return nil, err
	}
	if t.checkout, err = m.Registry().CheckoutOf(ctx, t.branch); err != nil {
		return nil, err
	}
	all, err := w.standings(ctx, t)
	var points []point
	for _, one := range all {
		if err == nil && one.stands() && one.Commit != "" && one.Without == 0 {
			points, err = w.pointsOf(ctx, t, one, points)
		}
	}
	if len(points) == 0 || err != nil {
		return nil, cmp.Or(err, error(errs.New(errs.NotFound, "%s: nothing has landed in %s", s.Name, t.branch).Hint("paw land --list%s", h.Place().Of(s.Name))))
	}
	points = append(points, point{commit: t.tip})
	good, bad, err := checks.Search(len(points), t.branch+": fails before the first landing", func(i int) (bool, error) { return c.Fails(ctx, points[i].commit) })
	b := &checks.Broken{Session: s.Name, Main: t.branch}
	switch one := points[bad]; {
	case err != nil || bad == 0:
		return b, err
	case one.landing == nil:
		b.Out = gitLine(t.branch, t.checkout, "bisect start", one.commit, points[good].commit)
	case one.turn == 0:
		b.Session, b.Agent, b.Prompt, b.Out = one.landing.Session, one.landing.Agent, one.landing.Title, revertLine(one.landing, t.checkout)
	default:
		b.Session, b.Agent, b.Turn, b.Unknown, b.Good = one.landing.Session, one.landing.Agent, one.turn, turns.Ranges(one.skipped), points[good].turn
		b.Prompt = display.Title(h.TurnDir(b.Session, b.Agent).LastTask(one.turn))
		b.Out = fmt.Sprintf("paw land --without %s/%s@%d", b.Session, b.Agent, b.Turn)
	}
	return b, nil
}

// point is a commit on the way of a branch, or what a landing would have made of it with the turns up to one.
type point struct {
	commit  string
	landing *Stand // that has led there, nil for what others have done
	turn    int    // 0 for the landing's commit
	skipped []turns.Turn
}

// pointsOf adds the points of a landing: what it found, that merged with the end of each of its turns, and what it made.
func (w work) pointsOf(ctx context.Context, t target, l *Stand, points []point) ([]point, error) {
	found, prefix, o := l.Before, turn.StatePrefix(l.TurnSession), w.Repo.States().Objects()
	if l.rewritten() {
		found = slices.Concat(l.Made, []string{l.Commit})[0] + "^"
	}
	points = append(points, point{commit: found})
	ends, err := w.Repo.Refs().List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	brings, err := states.Merged(ctx, o, l.Twin, "--no-merged="+found, prefix)
	var numbers []int
	for ref := range brings {
		if number, err := strconv.Atoi(strings.TrimPrefix(ref, prefix)); err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	var skipped []turns.Turn
	for _, number := range numbers {
		merged, err := o.MergeTree(ctx, t.place(w.Repo), l.Before, ends[prefix+strconv.Itoa(number)])
		if err != nil {
			return nil, err
		}
		if len(merged.Conflicts) > 0 {
			skipped = append(skipped, turns.Turn{Record: turn.Record{Number: number}})
			continue
		}
		commit, err := w.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: merged.Tree, Parents: []string{l.Before}, Message: "paw: bisect\n", Own: true})
		if err != nil {
			return nil, err
		}
		points, skipped = append(points, point{commit: commit, landing: l, turn: number, skipped: skipped}), nil
	}
	return append(points, point{commit: l.Commit, landing: l}), err
}
