package orchestrator

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/queue"
	"paw/orchestrator/teardown"
	"paw/session"
)

// RaceView is a race as it stands.
type RaceView struct {
	session.Race
	Racers []RacerView `json:"racers"`
}

// RacerView is an agent of a race as it stands.
type RacerView struct {
	session.Racer
	session.Verdict               // on the newest turn that was checked; before there is one, Result is the state of the agent's task
	GreenAt         int           `json:"green_at,omitempty"` // first turn whose end passed, 0 for none
	Took            time.Duration `json:"-"`                  // all turns that have ended
	Seconds         float64       `json:"seconds"`            // Took
	Spent           *cli.Spent    `json:"tokens"`             // nil where it is not known
}

// Races returns the race of that name, or all races of a session. It has ends of turns checked that are
// not yet.
func Races(ctx context.Context, h *app.App, s *session.Session, name string) (all []RaceView, err error) {
	q, err := h.Queues().Load(s.Name)
	if err == nil && name != "" {
		_, err = queue.RaceNamed(q, s.Name, name)
	}
	if err != nil || q == nil {
		return nil, h.RecordError(s.Name, err)
	}
	queue.Wake(h, s.Name, 0, false) // the process that did so may have been killed
	for _, r := range q.Races {
		if name != "" && r.Name != name {
			continue
		}
		view := RaceView{Race: r}
		for _, one := range r.Racers {
			view.Racers = append(view.Racers, racerOf(ctx, h, s, q.Task(one.Task), one))
		}
		all = append(all, view)
	}
	return all, nil
}

func racerOf(ctx context.Context, h *app.App, s *session.Session, t *session.Task, one session.Racer) RacerView {
	v := RacerView{Racer: one}
	for _, judged := range one.Verdicts {
		if judged.Turn > v.Turn {
			v.Verdict = judged
		}
		if judged.Result == session.RacePass && (v.GreenAt == 0 || judged.Turn < v.GreenAt) {
			v.GreenAt = judged.Turn
		}
	}
	if w := s.Agent(one.Agent); w != nil {
		if used := UsageOf(ctx, h.Agent(s, w)); used.Unknown == "" {
			v.Spent = &used.Total
		}
		records, _ := h.TurnDir(s.Name, one.Agent).Records()
		for _, t := range records {
			if t.EndedAt != nil {
				v.Took += t.EndedAt.Sub(t.StartedAt)
			}
		}
		v.Seconds = v.Took.Seconds()
	}
	if now, runs := checks.RunningIn(h, s); runs && now.Agent == one.Agent && one.Agent != "" {
		v.Result = "checking"
	} else if v.Result == "" && t != nil {
		v.Result, v.Why = string(t.State), queue.WhyInWords(*t)
	}
	return v
}

// PickRace lands the end of a turn of a race's agent, by default of the last one that was checked, if the
// check passes on it now, and stops the others. The record says first which one is picked: nobody picks another one
// meanwhile. It may be repeated after any interruption.
func PickRace(ctx context.Context, h *app.App, s *session.Session, name, agentName, number string) (*landing.Landed, error) {
	var race session.Race
	who, was, picked := s.Name+"/"+agentName, "", ""
	_, err := h.Queues().Update(ctx, s.Name, func(q *session.Queue) error {
		r, err := queue.RaceNamed(q, s.Name, name)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(r.Racers, func(o session.Racer) bool { return o.Agent == agentName })
		if at < 0 {
			return errs.New(errs.Usage, "%s: is not in %s", agentName, name).Hint("paw race %s", name)
		}
		if last := racerOf(ctx, h, s, nil, r.Racers[at]).Turn; number == "" && len(r.Check) > 0 {
			if last == 0 {
				return errs.New(errs.Refused, "%s: no turn of it was checked yet", who).Hint("paw race %s", name)
			}
			number = strconv.Itoa(last)
		}
		picked = strings.TrimSuffix(session.RacePicked+agentName+"@"+number, "@")
		if strings.HasPrefix(r.Over, session.RacePicked) && r.Over != picked {
			return errs.New(errs.Refused, "%s: is over, %s", name, r.Over).Hint("paw land %s", who)
		}
		if race = *r; r.Over != picked { // else this pick was killed before
			was = r.Over
		}
		r.Over = picked
		return nil
	})
	if err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	h.Step("race.claimed")
	landed, err := landPicked(ctx, h, s, &race, agentName, number)
	if err != nil {
		_, _ = h.Queues().Update(context.WithoutCancel(ctx), s.Name, func(q *session.Queue) error {
			if r := q.Race(name); r != nil {
				r.Over = was
			}
			return nil
		})
		return nil, err
	}
	h.Step("race.landed")
	return landed, EndRace(ctx, h, s, name, agentName, picked)
}

func landPicked(ctx context.Context, h *app.App, s *session.Session, r *session.Race, agentName, number string) (*landing.Landed, error) {
	h, err := h.ConfiguredFor(s)
	if err == nil && len(r.Check) > 0 {
		err = passes(ctx, h, s, r, agentName, number)
	}
	if err != nil {
		return nil, err
	}
	return landing.Land(ctx, h, s, agentName, landing.Options{Turn: number, Checks: r.Check, NoCheck: len(r.Check) == 0})
}

// passes refuses a state of an agent on which the check of a race does not pass.
func passes(ctx context.Context, h *app.App, s *session.Session, r *session.Race, agentName, number string) error {
	who := s.Name + "/" + agentName
	turn, err := strconv.Atoi(number)
	if err != nil {
		return errs.New(errs.Usage, "%s@%s: not a turn", who, number)
	}
	v, err := landing.Judge(ctx, h, s, r, agentName, turn)
	if err != nil || v.Result == session.RacePass {
		return err
	}
	kind := errs.CheckFailed
	if v.Result == session.RaceConflict {
		kind = errs.Conflict
	}
	return errs.New(kind, "%s: not picked: %s", who, v.Why).Hint("paw diff %s", who)
}

// EndRace records how a race has ended, takes its tasks that are open out of the queue, and stops its agents but
// one. What they have done stays.
func EndRace(ctx context.Context, h *app.App, s *session.Session, name, but, how string) error {
	var others []string
	_, err := h.Queues().Update(ctx, s.Name, func(q *session.Queue) error {
		r, err := queue.RaceNamed(q, s.Name, name)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(r.Over, session.RacePicked) {
			r.Over = how
		}
		for _, one := range r.Racers {
			if t := q.Task(one.Task); t != nil && !t.State.Over() {
				queue.Drop(q, []string{t.ID})
			}
			if w := s.Agent(one.Agent); w != nil && one.Agent != but && !w.Phase.Stop() {
				others = append(others, one.Agent)
			}
		}
		return nil
	})
	if err != nil {
		return h.RecordError(s.Name, err)
	}
	h.Step("race.ended")
	if len(others) > 0 && s.Status != session.StatusStopped {
		_, err = Stop(ctx, h, s, teardown.StopOptions{Agents: others})
	}
	return err
}
