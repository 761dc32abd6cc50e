package queue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// RaceOptions are the options of a new race.
type RaceOptions struct {
	session.Race          // Name may be "", and Check may be the configured one
	CLIs         []string // one agent for each
	Prompt       string
	NoCheck      bool
	Task         session.Task // what all tasks have in common
	Again        string       // the command line with --no-check
}

// BeginRace queues a race: a task with an agent for each CLI, which all start from the tip of the session's
// target. It refuses a race that could not be decided, and returns its name.
func BeginRace(ctx context.Context, h *app.App, s *session.Session, o RaceOptions) (string, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return "", err
	}
	race := o.Race
	if !o.NoCheck {
		race.Check, err = checks.Some(h, "race", o.Check, o.Again)
	}
	if err != nil {
		return "", err
	}
	q, err := h.Queues().Load(s.Name)
	if err != nil {
		return "", h.RecordError(s.Name, err)
	}
	if race.Name, err = raceName(q, o.Name); err != nil {
		return "", err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return "", err
	}
	if race.Base, err = m.Refs().BranchTip(ctx, s.Target); err != nil || race.Base == "" {
		return "", errors.Join(err, errs.New(errs.Refused, "%s: has no branch %s to land in", s.Name, s.Target).Hint("git branch"))
	}
	if race.Protect, err = protected(ctx, h, s, m, race); err != nil {
		return "", err
	}
	race.Timeout = o.Task.Timeout
	race.Prompt, race.At = firstLine(turn.Prompt(o.Prompt).Words()), h.Now().UTC()
	var tasks []New
	for i, cli := range o.CLIs {
		t := New{Task: o.Task, Prompt: o.Prompt}
		t.ID, t.Kind, t.CLIs, t.Base = fmt.Sprintf("%s_%d", race.Name, i+1), session.AgentTask, []string{cli}, race.Base
		tasks, race.Racers = append(tasks, t), append(race.Racers, session.Racer{Task: t.ID, CLI: cli})
	}
	_, err = Enqueue(ctx, h, s, tasks, 0, &race, false)
	return race.Name, err
}

// protected returns the protected paths of a new race from the top of the repository on. It refuses one that its
// base does not have.
func protected(ctx context.Context, h *app.App, s *session.Session, m *worktree.Manager, r session.Race) (paths []string, err error) {
	below := "."
	if here, err := gitdir.Discover(h.Dir); err == nil && here.CommonDir == s.GitCommonDir {
		if inside, err := filepath.Rel(disk.Resolved(here.Worktree), disk.Resolved(h.Dir)); err == nil && filepath.IsLocal(inside) {
			below = inside
		}
	}
	for _, path := range r.Protect {
		from := path
		if !strings.HasPrefix(path, ":") && !filepath.IsAbs(path) {
			from = filepath.Join(below, path)
		}
		switch files, err := m.Objects().FilesIn(ctx, r.Base, from); {
		case err != nil:
			return nil, errs.New(errs.Usage, "--protect %s: %w", path, err)
		case path == "" || len(files) == 0:
			return nil, errs.New(errs.Usage, "--protect %s: %s has nothing there", path, s.Target)
		}
		paths = append(paths, from)
	}
	return paths, nil
}

// raceName returns the name of a new race: the one that was asked for, or a free one.
func raceName(q *session.Queue, asked string) (string, error) {
	taken := func(name string) bool {
		return q != nil && (q.Race(name) != nil || q.Task(name+"_1") != nil)
	}
	if asked == "" {
		for n := 1; ; n++ {
			if asked = strings.TrimSuffix("race_"+strconv.Itoa(n), "_1"); !taken(asked) {
				return asked, nil
			}
		}
	}
	switch err := session.ValidateTaskID(asked + "_1"); {
	case err != nil:
		return "", errs.New(errs.Usage, "--name %s: lower case letters, digits, _ and - are allowed", asked)
	case asked == "pick" || asked == "stop":
		return "", errs.New(errs.Usage, "--name %s: is a command of paw race", asked)
	case taken(asked) && q.Race(asked) == nil:
		return "", errs.New(errs.Usage, "%s: there is a task %s_1 in the queue", asked, asked).Hint("paw queue %s", q.Session)
	case taken(asked):
		return "", errs.New(errs.Usage, "%s: there is a race of that name", asked).Hint("paw race %s", asked)
	}
	return asked, nil
}

// RaceNamed returns a race of a queue, which may be nil.
func RaceNamed(q *session.Queue, sessionName, name string) (*session.Race, error) {
	if q != nil && q.Race(name) != nil {
		return q.Race(name), nil
	}
	return nil, errs.New(errs.NotFound, "%s: no such race in %s", name, sessionName).Hint("paw race")
}

// unjudged returns a race, the index of an agent of it and a finished turn on which there is no verdict yet; the
// race is nil if there is none.
func (p *pump) unjudged(q *session.Queue) (r *session.Race, at, number int) {
	for i := range q.Races {
		r := &q.Races[i]
		for at, one := range r.Racers {
			if !r.On() || one.Agent == "" {
				continue
			}
			records, _ := p.TurnDir(p.session, one.Agent).Records()
			for _, t := range records {
				judged := slices.ContainsFunc(one.Verdicts, func(v session.Verdict) bool { return v.Turn == t.Number })
				if t.State == turn.Finished && !judged {
					return r, at, t.Number
				}
			}
		}
	}
	return nil, 0, 0
}

// judgeOne runs the check of a race on the end of one turn, unless another process runs checks of this
// queue, and reports whether there may be more. A hold of the queue, as by paw stop, and the end of the race
// end the check.
func (p *pump) judgeOne(ctx context.Context) (did bool, err error) {
	q, err := p.Queues().Load(p.session)
	if err != nil || q == nil || len(q.Races) == 0 {
		return false, err
	}
	unlock := p.Locks.QueueChecks(p.session)
	if unlock == nil {
		return false, nil // the holder of the lock looks for more afterwards
	}
	defer unlock()
	if q, err = p.Queues().Load(p.session); err != nil { // as the last holder has left it
		return false, err
	}
	s, h, err := p.LoadConfigured(p.session)
	r, at, number := p.unjudged(q)
	if r == nil || err != nil || s.Status == session.StatusStopped {
		return false, app.UnlessGone(err)
	}
	v, held, over := session.Verdict{}, false, false
	p.while(ctx, func(now *session.Queue) bool {
		race := now.Race(r.Name)
		held, over = now.Held != q.Held, race == nil || !race.On()
		return !held && !over
	}, func(ctx context.Context) {
		v, err = landing.Judge(ctx, h, s, r, r.Racers[at].Agent, number)
	})
	if ctx.Err() != nil || held || over {
		return over && !held, ctx.Err()
	}
	if err != nil {
		v.Result, v.Why = session.RaceUnknown, firstLine(err.Error())
	}
	p.Step("race.judged")
	_, err = p.Queues().Update(ctx, p.session, func(q *session.Queue) error {
		if now := q.Race(r.Name); now != nil {
			now.Racers[at].Verdicts = append(now.Racers[at].Verdicts, v)
		}
		return nil
	})
	return err == nil, err
}
