package session

import (
	"cmp"
	"slices"
	"time"
)

// Race is one prompt that several agents get, whose work the same check compares.
type Race struct {
	Name    string    `json:"name"`
	Prompt  string    `json:"prompt"` // first line
	Base    string    `json:"base"`   // commit that all start from
	Check   []string  `json:"check"`  // commands that the work must pass, none for a race without a check
	Protect []string  `json:"protect,omitempty"`
	Repeat  int       `json:"repeat"` // how often the check runs on a state
	Racers  []Racer   `json:"racers"`
	Over    string    `json:"over,omitempty"` // RaceStopped once nothing more is checked; that one is picked, the session's landings say
	At      time.Time `json:"at"`

	Timeout time.Duration `json:"timeout,omitempty"` // of one run of a check
}

// Racer is one agent of a race, and the task of the queue that starts it.
type Racer struct {
	Task     string    `json:"task"`
	CLI      string    `json:"cli"`
	Agent    string    `json:"agent,omitempty"` // "" until the task has begun
	State    TaskState `json:"state,omitempty"` // of the task, also when the queue does not have it any more
	Verdicts []Verdict `json:"verdicts,omitempty"`
}

// Verdict is what the check said of the end of a turn, merged with the target.
type Verdict struct {
	Turn    int      `json:"turn"`
	Result  string   `json:"result"`
	Why     string   `json:"why,omitempty"`
	Added   int      `json:"added,omitempty"`
	Deleted int      `json:"deleted,omitempty"`
	Flags   []string `json:"flags,omitempty"`
}

// Results of a verdict, the best one first.
const (
	RacePass     = "pass"
	RaceFlaky    = "flaky" // some runs of the check pass
	RaceFail     = "fail"
	RaceConflict = "conflict"
	RaceUnknown  = "unknown" // the state cannot be told or checked
)

// RaceStopped is the end of a race whose agents were stopped.
const RaceStopped = "stopped"

// On reports whether the ends of turns are still checked.
func (r *Race) On() bool { return r.Over == "" && len(r.Check) > 0 }

// Race returns a pointer to the race with that name, or nil.
func (q *Queue) Race(name string) *Race {
	for i := range q.Races {
		if q.Races[i].Name == name {
			return &q.Races[i]
		}
	}
	return nil
}

// RaceOf returns a pointer to the race that has begun a task with that id, or nil.
func (q *Queue) RaceOf(id string) *Race {
	for i := range q.Races {
		if slices.ContainsFunc(q.Races[i].Racers, func(one Racer) bool { return one.Task == id }) {
			return &q.Races[i]
		}
	}
	return nil
}

// Racer returns a pointer to the racer with that agent, or nil.
func (r *Race) Racer(agent string) *Racer {
	for i := range r.Racers {
		if agent != "" && r.Racers[i].Agent == agent {
			return &r.Racers[i]
		}
	}
	return nil
}

// Last returns the verdict on the newest turn that was checked, the zero value for none.
func (r *Racer) Last() (last Verdict) {
	for _, v := range r.Verdicts {
		if v.Turn > last.Turn {
			last = v
		}
	}
	return last
}

// follow records the agents and states of the races' tasks, and reports whether a race goes on.
func (q *Queue) follow() (on bool) {
	for i := range q.Races {
		r := &q.Races[i]
		on = on || r.On()
		for k := range r.Racers {
			if t := q.Task(r.Racers[k].Task); t != nil {
				r.Racers[k].Agent, r.Racers[k].State = cmp.Or(t.Agent, r.Racers[k].Agent), t.State
			}
		}
	}
	return on
}
