package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/queue"
	"paw/orchestrator/teardown"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// RaceView is a race as it stands.
type RaceView struct {
	session.Race
	Timeout float64     `json:"timeout,omitempty"` // in seconds
	Racers  []RacerView `json:"racers"`
}

// RacerView is an agent of a race as it stands.
type RacerView struct {
	session.Racer
	session.Verdict               // on the newest turn that was checked, or was rewound to; before there is one, Result is the state of the agent's task
	GreenAt         int           `json:"green_at,omitempty"` // first turn whose end passed, 0 for none
	Took            time.Duration `json:"-"`                  // all turns that have ended
	Seconds         float64       `json:"seconds"`            // Took
	Spent           *cli.Spent    `json:"tokens"`             // nil where it is not known
}

// Races returns the race of that name, or all races of a session. It has ends of turns checked that are
// not yet.
func Races(ctx context.Context, h *app.App, s *session.Session, name string) (all []RaceView, err error) {
	seen, err := queue.Observe(ctx, h, s)
	if err != nil {
		return nil, err
	}
	list, err := queue.Look(ctx, h, seen)
	if err != nil {
		return nil, err
	}
	q := &session.Queue{}
	if list != nil {
		q.Tasks, q.Races = list.Tasks, list.Races
	}
	if name != "" {
		if _, err := queue.RaceNamed(q, s.Name, name); err != nil {
			return nil, err
		}
	}
	queue.Wake(h, s.Name, 0, false) // the process that did so may have been killed
	for _, r := range q.Races {
		if name != "" && r.Name != name {
			continue
		}
		picked, err := pickedOf(ctx, h, s, &r)
		if err != nil {
			return nil, err
		}
		if picked != nil {
			r.Over = pickedWords(picked)
		}
		view := RaceView{Race: r, Timeout: r.Timeout.Seconds()}
		for _, one := range r.Racers {
			view.Racers = append(view.Racers, racerOf(ctx, h, s, &r, q.Task(one.Task), one))
		}
		all = append(all, view)
	}
	return all, nil
}

func racerOf(ctx context.Context, h *app.App, s *session.Session, r *session.Race, t *session.Task, one session.Racer) RacerView {
	v := RacerView{Racer: one, Verdict: verdictNow(ctx, h, s, one)}
	for _, judged := range one.Verdicts {
		if judged.Result == session.RacePass && (v.GreenAt == 0 || judged.Turn < v.GreenAt) {
			v.GreenAt = judged.Turn
		}
	}
	if t != nil {
		v.State = t.State
	}
	unchecked := false
	if w := s.Agent(one.Agent); w != nil {
		if used := UsageOf(ctx, h.Agent(s, w)); used.Unknown == "" {
			v.Spent = &used.Total
		}
		records, _ := h.TurnDir(s.Name, one.Agent).Records()
		for _, t := range records {
			if t.EndedAt != nil {
				v.Took += t.EndedAt.Sub(t.StartedAt)
			}
			unchecked = unchecked || t.State == turn.Finished && t.Number > one.Last().Turn
		}
		v.Seconds = v.Took.Seconds()
	}
	now, runs := checks.RunningIn(h, s)
	switch {
	case runs && now.Agent == one.Agent && one.Agent != "":
		v.Result, v.Why = checking, ""
	case unchecked && r.On() && s.Status != session.StatusStopped:
		if v.Result, v.Why = checking, ""; runs {
			v.Why = "waits for the check of " + now.Agent
		}
	case v.Result == "" && t != nil:
		v.Result, v.Why = string(v.State), queue.WhyInWords(*t)
	case v.Result == "":
		v.Result = string(v.State)
	}
	return v
}

// verdictNow returns the verdict on the newest turn of an agent that was checked, or on the one that it was rewound to
// since.
func verdictNow(ctx context.Context, h *app.App, s *session.Session, one session.Racer) session.Verdict {
	w, newest := s.Agent(one.Agent), one.Last()
	records, _ := h.TurnDir(s.Name, one.Agent).Records()
	m, err := h.ManagerOf(ctx, s)
	if w == nil || len(records) == 0 || err != nil {
		return newest
	}
	last := records[len(records)-1].Number
	_, at, err := turns.Position(ctx, h.Agent(s, w).In(m), last)
	if at == last || err != nil {
		return newest
	}
	for _, v := range one.Verdicts {
		if v.Turn == at {
			return v
		}
	}
	return session.Verdict{}
}

// checking is the result of an agent whose newest turn is about to be checked.
const checking = "checking"

// pickedOf returns the newest landing of an agent of a race that stands in the session's target, nil for none.
func pickedOf(ctx context.Context, h *app.App, s *session.Session, r *session.Race) (picked *session.Landing, err error) {
	ofRace := func(l session.Landing) bool {
		return r.Racer(l.Agent) != nil && l.Target == s.Target && l.Without == 0 && !l.At.Before(r.At.Truncate(time.Second))
	}
	if !slices.ContainsFunc(s.Landings, ofRace) { // without asking git
		return nil, nil
	}
	all, err := landing.Standings(ctx, h, s)
	for _, one := range all {
		if ofRace(one.Landing) && one.Standing == landing.InForce {
			picked = &one.Landing
		}
	}
	return picked, err
}

// pickedWords says what was picked.
func pickedWords(picked *session.Landing) string {
	if picked.Turn == 0 {
		return "picked " + picked.Agent
	}
	return fmt.Sprintf("picked %s@%d", picked.Agent, picked.Turn)
}

// PickRace lands the end of a turn of a race's agent, by default of the last one that was checked, if the
// check passes on it now, and stops the others. It refuses while work of another one has landed and stands. It may
// be repeated after any interruption.
func PickRace(ctx context.Context, h *app.App, s *session.Session, name, agentName, number string) (*landing.Landed, error) {
	unlock := h.Locks.Pick(s.Name)
	if unlock == nil {
		return nil, errs.New(errs.Locked, "%s: another paw picks in a race of it now", s.Name).Hint("paw race %s", name)
	}
	defer unlock()
	s, err := finishedLandings(ctx, h, s.Name)
	if err != nil {
		return nil, err
	}
	q, err := h.Queues().Load(s.Name)
	if err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	r, err := queue.RaceNamed(q, s.Name, name)
	if err != nil {
		return nil, err
	}
	picked, err := mayPick(ctx, h, s, r, agentName)
	if err != nil {
		return nil, err
	}
	who := s.Name + "/" + agentName
	if number == "" && len(r.Check) > 0 {
		checked := verdictNow(ctx, h, s, *r.Racer(agentName)).Turn
		if checked == 0 {
			return nil, errs.New(errs.Refused, "%s: no turn of it was checked yet", who).Hint("paw race %s", name)
		}
		number = strconv.Itoa(checked)
	}
	landed, err := landPicked(ctx, h, s, r, agentName, number)
	if err != nil {
		return nil, err
	}
	if landed.Nothing && picked == nil {
		return nil, errs.New(errs.Refused, "%s", landed).Hint("paw race %s", name)
	}
	h.Step("race.landed")
	return landed, EndRace(ctx, h, s, name, agentName)
}

// finishedLandings returns the record of a session, with what has been picked meanwhile and with the landing that a pick before was
// killed in.
func finishedLandings(ctx context.Context, h *app.App, name string) (*session.Session, error) {
	s, err := h.Load(name)
	if err != nil || !slices.ContainsFunc(s.Landings, landing.Unfinished) {
		return s, err
	}
	if err := finishMoves(ctx, h, s, false); err != nil {
		return nil, err
	}
	return h.Load(name)
}

// mayPick refuses an agent that is not in a race, or in one of which the work of another agent has landed. It
// returns the landing of the agent's own work that stands, nil for none.
func mayPick(ctx context.Context, h *app.App, s *session.Session, r *session.Race, agentName string) (*session.Landing, error) {
	if slices.ContainsFunc(r.Racers, func(o session.Racer) bool { return o.Task == agentName && o.Agent == "" }) {
		return nil, errs.New(errs.Refused, "%s: has not begun", agentName).Hint("paw race %s", r.Name)
	}
	if r.Racer(agentName) == nil {
		return nil, errs.New(errs.Usage, "%s: is not in %s", agentName, r.Name).Hint("paw race %s", r.Name)
	}
	if s.Agent(agentName) == nil {
		e := errs.New(errs.Usage, "%s: was removed", agentName)
		for _, other := range r.Racers {
			if s.Agent(other.Agent) != nil {
				return nil, e.Hint("paw race pick %s %s", r.Name, other.Agent)
			}
		}
		return nil, e.Hint("paw race %s", r.Name)
	}
	for _, l := range s.Landings {
		if landing.Unfinished(l) && l.Agent != agentName && r.Racer(l.Agent) != nil {
			return nil, errs.New(errs.Refused, "landing %d of %s: is half done, nothing is picked", l.ID, l.Agent).Hint("paw recover %s", s.Name)
		}
	}
	picked, err := pickedOf(ctx, h, s, r)
	if picked != nil && picked.Agent != agentName {
		return nil, errs.New(errs.Refused, "%s: is over, %s", r.Name, pickedWords(picked)).Hint("paw land %s/%s", s.Name, agentName)
	}
	return picked, err
}

func landPicked(ctx context.Context, h *app.App, s *session.Session, r *session.Race, agentName, number string) (*landing.Landed, error) {
	h, err := h.ConfiguredFor(s)
	if err == nil && len(r.Check) > 0 && (len(r.Protect) > 0 || r.Repeat > 1 || r.Timeout > 0) { // else the landing checks the same
		err = passes(ctx, h, s, r, agentName, number)
	}
	if err != nil {
		return nil, err
	}
	landed, err := landing.Land(ctx, h, s, agentName, landing.Options{Turn: number, Checks: r.Check, NoCheck: len(r.Check) == 0})
	if _, fails := errors.AsType[*checks.Error](err); fails && len(r.Protect) > 0 {
		protected := ""
		for _, path := range r.Protect {
			protected += " " + errs.Quote(path)
		}
		return nil, errs.New(errs.CheckFailed, "%s/%s: not picked: it passes with%s of %s, and fails with its own", s.Name, agentName, protected, s.Target).
			Hint("paw diff %s/%s --%s", s.Name, agentName, protected)
	}
	return landed, err
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

// EndRace has no more turns of a race checked, takes its tasks that are open out of the queue, and stops its agents
// but one. What they have done stays.
func EndRace(ctx context.Context, h *app.App, s *session.Session, name, but string) error {
	var others []string
	_, err := h.Queues().Update(ctx, s.Name, func(q *session.Queue) error {
		r, err := queue.RaceNamed(q, s.Name, name)
		if err != nil {
			return err
		}
		r.Over = session.RaceStopped
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
