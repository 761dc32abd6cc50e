package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

var (
	noon  = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	later = noon.Add(2 * time.Hour)
)

// oneTask is a queue with a task of the agent x, whose CLI is a, of the account a.
func oneTask(t session.Task) *session.Queue {
	t.ID = "t1"
	if t.Kind == "" {
		t.Kind, t.Agent = session.PromptTask, "x"
	}
	if t.State == "" {
		t.State = session.TaskWaiting
	}
	q := (&session.Queue{Session: "s", Tasks: []session.Task{t}}).Clone()
	q.Lanes["x"] = session.Lane{}
	return q
}

// running is a task whose turn 1 was begun a minute before noon.
func running(change func(*session.Task)) *session.Queue {
	q := oneTask(session.Task{State: session.TaskRunning, Turn: 1, Typed: true, Begun: noon.Add(-time.Minute)})
	q.Lanes["x"] = session.Lane{Seen: 1}
	change(&q.Tasks[0])
	return q
}

// seen are facts with the agent x and its turns.
func seen(change func(*Agent), turns ...Turn) Facts {
	x := Agent{CLI: "a", Account: "a", Running: true, Ready: live.Due, Turns: turns}
	x.Status.State = session.StateIdle
	change(&x)
	return Facts{
		Agents: map[string]Agent{"x": x}, CLIs: map[string]CLI{"a": {true, "a"}, "b": {true, "b"}}, Max: 1, Starts: 9, Pace: UsualPace,
	}
}

func same(*Agent)        {}
func asIs(*session.Task) {}

// one is turn 1 of the task, which ended at noon, a minute after its begin.
func one(state turn.State, change func(*Turn)) Turn {
	end := noon
	t := Turn{Record: turn.Record{Number: 1, State: state, StartedAt: noon.Add(-time.Minute)}, Task: "t1", Now: true}
	if state != turn.InProgress {
		t.EndedAt = &end
	}
	change(&t)
	return t
}

func soonAborted(reason turn.Reason) func(*Turn) {
	return func(t *Turn) { t.Reason, t.ErrorMessage, t.StartedAt = reason, "no login", noon.Add(-time.Second) }
}

func hits(until time.Time, answered bool) func(*Turn) {
	return func(t *Turn) { t.Reason, t.Limit, t.Answered = turn.ReasonError, &turn.Limit{Until: until}, answered }
}

// plain is a turn without any change.
func plain(*Turn) {}

// TestNext has each thing that a queue can come to: the steps, and what the task is afterwards.
func TestNext(t *testing.T) {
	with := func(f Facts, change func(*Facts)) Facts { change(&f); return f }
	continues := func(f *Facts) { f.Limits = Limits{Continue: true, Times: 1} }
	handsOver := func(f *Facts) { f.Limits = Limits{HandOver: []string{"b"}, Times: 1} }
	asks := func(a *Agent) { a.Status.State, a.Ready = session.StateWaitingInput, live.Busy }
	busy := func(a *Agent) { a.Ready = live.Busy }
	ended := func(a *Agent) {
		a.Running, a.Exited, a.Status.State, a.Ready = false, true, session.StateError, live.NotRunning
	}
	exited := func(a *Agent) {
		ended(a)
		a.Status.Reason = "exit code 1"
	}
	killed := func(a *Agent) {
		ended(a)
		a.Status.Reason = "killed by signal 9"
	}
	cutByExit := func(t *Turn) { t.Reason, t.ErrorMessage = turn.ReasonInterrupted, "the CLI exited" }
	between := func(a *Agent) { // its lock is free, and tmux has its pane still: it begins, or has just ended
		a.Running, a.Status.State, a.Status.Reason, a.Ready = false, session.StateUnknown, session.ReasonForeign, live.NotRunning
	}
	gone := func(a *Agent) {
		a.Running, a.Gone, a.Status.State, a.Ready = false, true, session.StateSuspended, live.NotRunning
	}
	untold := func(t *session.Task) { t.Turn, t.Begun = 0, noon }
	starting := func(a *Agent) { a.Starting, a.Ready = true, live.Busy }
	silent := func(ago time.Duration) func(*Agent) { // its screen shows that it works
		return func(a *Agent) { a.Silent, a.Ready, a.Status.State = noon.Add(-ago), live.Busy, session.StateRunning }
	}
	longAgo := func(t *Turn) { // and lifted since
		end := noon.Add(-time.Hour)
		hits(noon.Add(-2*time.Minute), true)(t)
		t.StartedAt, t.EndedAt = end, &end
	}
	started := running(func(t *session.Task) { t.Kind, t.Turn, t.Begun = session.AgentTask, 0, noon.Add(-time.Hour) })
	task := session.Task{Kind: session.AgentTask, CLIs: []string{"a", "b"}}
	after := func(state session.TaskState) *session.Queue {
		q := oneTask(session.Task{After: []string{"t0"}})
		q.Tasks = append([]session.Task{{ID: "t0", Kind: session.AgentTask, State: state, Agent: "y"}}, q.Tasks...)
		return q
	}
	changed := func(q *session.Queue, change func(*session.Queue)) *session.Queue { change(q); return q }
	blocked := func(q *session.Queue) { q.Blocks["a"] = session.Block{Limit: true, CLI: "a", Until: later} }
	for name, c := range map[string]struct {
		q     *session.Queue
		f     Facts
		steps string // without arm
		task  string // what the last task is afterwards, and why as people see it
		armed bool
	}{
		"a prompt to an agent at rest":          {oneTask(session.Task{}), seen(same), "prompt t1", "waiting", true},
		"to one that works":                     {oneTask(session.Task{}), seen(busy, one(turn.InProgress, func(t *Turn) { t.Task = "" })), "", "waiting busy", true},
		"to one that is about to rest":          {oneTask(session.Task{}), seen(busy), "look t1", "waiting busy", true},
		"to one that does not take it":          {oneTask(session.Task{Refused: "its pane is in copy mode", RefusedAt: noon}), seen(same), "prompt t1", "waiting its pane is in copy mode", true},
		"to one that did not take it and works": {oneTask(session.Task{Refused: "its pane is in copy mode", RefusedAt: noon}), seen(busy, one(turn.InProgress, func(t *Turn) { t.Task = "" })), "", "waiting busy", true},
		"to one that asks":                      {oneTask(session.Task{}), seen(asks), "", "waiting question", true},
		"to one that does not run":              {oneTask(session.Task{}), seen(ended), "", "held not running", false},
		"to none":                               {oneTask(session.Task{Kind: session.PromptTask, Agent: "z"}), seen(same), "", "held no agent z", false},
		"to one that its user has prompted":     {oneTask(session.Task{}), seen(same, one(turn.Finished, func(t *Turn) { t.Task, t.Person = "", true })), "hold x", "held you", false},
		"to one that has prompted itself":       {oneTask(session.Task{}), seen(same, one(turn.Finished, func(t *Turn) { t.Task = "" })), "prompt t1", "waiting", true},
		"before its time":                       {oneTask(session.Task{NotYet: later}), seen(same), "", "waiting due 2 Jan 14:00", true},
		"a task":                                {oneTask(task), seen(same), "start t1 a", "waiting", true},
		"a task whose first CLI is limited":     {changed(oneTask(task), blocked), seen(same), "start t1 b", "waiting", true},
		"one whose first CLI is not there":      {oneTask(task), with(seen(same), func(f *Facts) { delete(f.CLIs, "a") }), "start t1 b", "waiting", true},
		"one whose CLIs are not there":          {oneTask(task), with(seen(same), func(f *Facts) { f.CLIs = nil }), "", "held not installed: a, b", false},
		"one whose CLIs are both held":          {changed(changed(oneTask(task), blocked), func(q *session.Queue) { q.Blocks["cli b"] = session.Block{CLI: "b"} }), seen(same), "", "held limit:a until 2 Jan 14:00", true},
		"one after a task that is done":         {after(session.TaskDone), seen(same), "prompt t1", "waiting", true},
		"one after a task that waits":           {after(session.TaskHeld), seen(same), "", "waiting after:t0", false},
		"one after a task that has failed":      {after(session.TaskFailed), seen(same), "", "held after:t0 failed", false},
		"a queue that is held":                  {changed(oneTask(task), func(q *session.Queue) { q.Held = "stop" }), seen(same), "", "held stop", false},
		"a session that is stopped":             {oneTask(task), with(seen(same), func(f *Facts) { f.Down = "stop" }), "", "held stop", false},
		"too many starts":                       {changed(oneTask(task), func(q *session.Queue) { q.Starts = 9 }), seen(same), "", "held starts", false},
		"starts that were raised":               {changed(oneTask(task), func(q *session.Queue) { q.Starts, q.StartsMax = 9, 10 }), seen(same), "start t1 a", "waiting", true},
		"too many at work": {changed(oneTask(task), func(q *session.Queue) {
			q.Tasks = append([]session.Task{{ID: "t0", Agent: "x", State: session.TaskRunning, Turn: 1}}, q.Tasks...)
		}), seen(busy, one(turn.InProgress, func(t *Turn) { t.Task = "t0" })), "", "waiting max", true},
		"an account that is limited": {changed(oneTask(session.Task{}), blocked), seen(same), "", "held limit:a until 2 Jan 14:00", true},
		"a limit that is over": {changed(oneTask(session.Task{}), func(q *session.Queue) {
			q.Blocks["a"] = session.Block{Limit: true, CLI: "a", Until: noon.Add(-time.Hour)}
		}), seen(same), "prompt t1", "waiting", true},
		"a breaker": {changed(oneTask(session.Task{}), func(q *session.Queue) { q.Blocks["cli a"] = session.Block{CLI: "a"} }), seen(same), "", "held breaker:a", false},
		"another agent is at a limit": {oneTask(session.Task{}), with(seen(same), func(f *Facts) {
			f.Agents["y"] = Agent{CLI: "a", Account: "a", Turns: []Turn{one(turn.InProgress, func(t *Turn) { t.Limit = &turn.Limit{Until: later} })}}
		}), "hold a", "held limit:a until 2 Jan 14:00", true},
		"a turn that runs":                      {running(asIs), seen(busy, one(turn.InProgress, plain)), "", "running", true},
		"one that asks":                         {running(asIs), seen(asks, one(turn.InProgress, plain)), "", "running", true},
		"one that takes too long":               {running(func(t *session.Task) { t.Timeout = time.Second }), seen(busy, one(turn.InProgress, plain)), "finish t1", "failed not done within 1s", true},
		"one that took too long":                {running(func(t *session.Task) { t.Timeout = time.Second }), seen(same, one(turn.Finished, plain)), "finish t1", "failed not done within 1s", false},
		"one that met a limit too late":         {running(func(t *session.Task) { t.Timeout = time.Second }), seen(same, one(turn.Aborted, hits(later, true))), "finish t1,hold a", "failed not done within 1s", false},
		"one of a machine that was off":         {running(func(t *session.Task) { t.Timeout = time.Second }), seen(gone, one(turn.Aborted, func(t *Turn) { t.Reason = turn.ReasonCrash })), "hold t1", "held interrupted", false},
		"one that went on after a limit":        {running(func(t *session.Task) { t.Timeout, t.Begun = time.Hour, noon.Add(-2*time.Hour) }), seen(busy, one(turn.InProgress, plain)), "", "running", true},
		"one that has ended":                    {running(asIs), seen(same, one(turn.Finished, plain)), "finish t1", "done", false},
		"one with a check":                      {running(func(t *session.Task) { t.Check = []string{"true"} }), seen(same, one(turn.Finished, plain)), "check t1", "running", true},
		"one whose check runs":                  {running(func(t *session.Task) { t.Checking = true }), seen(same, one(turn.Finished, plain)), "check t1", "running", true},
		"one that gave up":                      {running(asIs), seen(same, one(turn.Finished, func(t *Turn) { t.Outcome = "failure" })), "finish t1", "failed its outcome is failure", false},
		"one that failed":                       {running(asIs), seen(same, one(turn.Aborted, func(t *Turn) { t.Reason, t.ErrorMessage = turn.ReasonError, "overloaded" })), "finish t1", "failed overloaded", false},
		"the second that failed at its start":   {changed(running(asIs), func(q *session.Queue) { q.Quick["a"] = 1 }), seen(same, one(turn.Aborted, soonAborted(turn.ReasonError))), "hold a,finish t1", "failed no login", false},
		"one that its user interrupted":         {running(asIs), seen(same, one(turn.Aborted, func(t *Turn) { t.Reason = turn.ReasonInterrupted })), "hold x,hold t1", "held you", false},
		"one whose CLI exited in its midst":     {running(asIs), seen(gone, one(turn.Aborted, cutByExit)), "hold t1", "held interrupted", false},
		"one whose CLI exited by itself":        {running(asIs), seen(exited, one(turn.Aborted, cutByExit)), "finish t1", "failed its CLI ended in the turn: exit code 1", false},
		"the second that did so at once":        {changed(running(asIs), func(q *session.Queue) { q.Quick["a"] = 1 }), seen(exited, one(turn.Aborted, func(t *Turn) { cutByExit(t); t.StartedAt = noon.Add(-time.Second) })), "hold a,finish t1", "failed its CLI ended in the turn: exit code 1", false},
		"one whose CLI is just exiting":         {running(asIs), seen(between, one(turn.Aborted, cutByExit)), "look t1", "running", true},
		"one whose user left its CLI":           {running(asIs), seen(func(a *Agent) { exited(a); a.Status.State = session.StateCompleted }, one(turn.Aborted, cutByExit)), "hold t1", "held interrupted", false},
		"one that was brought back":             {running(asIs), seen(same, one(turn.Aborted, func(t *Turn) { cutByExit(t); t.Now = false })), "hold t1", "held interrupted", false},
		"one that was stopped":                  {running(asIs), seen(ended, one(turn.Aborted, func(t *Turn) { t.Reason = turn.ReasonStopped })), "hold x,hold t1", "held you", false},
		"one that crashed":                      {running(asIs), seen(ended, one(turn.Aborted, func(t *Turn) { t.Reason = turn.ReasonCrash })), "hold t1", "held interrupted", false},
		"one whose CLI was killed in its midst": {running(asIs), seen(killed, one(turn.InProgress, plain)), "finish t1", "failed its CLI ended in the turn: killed by signal 9", false},
		"one whose CLI was left in its midst":   {running(asIs), seen(func(a *Agent) { exited(a); a.Status.State = session.StateCompleted }, one(turn.InProgress, plain)), "hold t1", "held interrupted", false},
		"one whose pane is gone in its midst":   {running(asIs), seen(gone, one(turn.InProgress, plain)), "hold t1", "held interrupted", false},
		"one that a stop ends in its midst":     {running(asIs), seen(func(a *Agent) { gone(a); a.Status.Cause = session.CauseStopped }, one(turn.InProgress, plain)), "hold t1", "held you", false},
		"one whose CLI and pane differ":         {running(asIs), seen(between, one(turn.InProgress, plain)), "", "running", true},
		"behind one whose CLI was killed": {changed(oneTask(task), func(q *session.Queue) {
			q.Tasks = append([]session.Task{{ID: "t0", Kind: session.AgentTask, Agent: "x", State: session.TaskRunning, Turn: 1}}, q.Tasks...)
		}), seen(killed, one(turn.InProgress, func(t *Turn) { t.Task = "t0" })), "finish t0,start t1 a", "waiting", true},
		"no turn yet":                         {running(func(t *session.Task) { t.Turn, t.Begun = 0, noon }), seen(same), "", "running", true},
		"no turn, and it begins or ends":      {running(untold), seen(between), "look t1", "running", true},
		"no turn, and it does so for long":    {running(func(t *session.Task) { t.Turn = 0 }), seen(between), "hold t1", "held interrupted", false},
		"no turn, and its pane is gone":       {running(untold), seen(gone), "hold t1", "held interrupted", false},
		"no turn, and tmux is silent":         {running(func(t *session.Task) { t.Turn = 0 }), with(seen(between), func(f *Facts) { f.Down = session.ReasonTmuxSilent }), "look ", "running", true},
		"no turn, and another one moves it":   {running(untold), with(seen(gone), func(f *Facts) { f.Looking = true }), "", "running", true},
		"not made yet, and another one does":  {running(func(t *session.Task) { t.Turn, t.Agent = 0, "z" }), with(seen(same), func(f *Facts) { f.Looking = true }), "", "running", true},
		"no turn of one that starts":          {running(func(t *session.Task) { t.Turn = 0 }), seen(starting), "", "running", true},
		"no turn, and no hook yet":            {started, seen(silent(9 * time.Minute)), "", "running", true},
		"no turn, and no hook for long":       {changed(started.Clone(), func(q *session.Queue) { q.Quick["a"] = 1 }), seen(silent(10 * time.Minute)), "hold a,hold t1", "held silent: no hook has reported yet", false},
		"no turn, and a hook comes at last":   {changed(started.Clone(), func(q *session.Queue) { q.Tasks[0].State, q.Tasks[0].Why = session.TaskHeld, session.HeldSilent }), seen(busy, one(turn.InProgress, plain)), "begun t1", "running", true},
		"a prompt to one that tells nothing":  {oneTask(session.Task{}), seen(silent(time.Minute)), "", "waiting silent: no hook has reported yet", true},
		"no turn at all":                      {running(func(t *session.Task) { t.Turn = 0 }), seen(same), "hold t1", "held interrupted", false},
		"no turn, and no agent":               {running(func(t *session.Task) { t.Turn, t.Agent = 0, "z" }), seen(same), "hold t1", "held interrupted", false},
		"no turn, and its CLI is dead":        {changed(running(func(t *session.Task) { t.Turn = 0 }), func(q *session.Queue) { q.Quick["a"] = 1 }), seen(ended), "hold a,finish t1", "failed its CLI ended before the turn: ", false},
		"no turn, and its user was faster":    {running(func(t *session.Task) { t.Turn = 0 }), seen(same, one(turn.Finished, func(t *Turn) { t.Task, t.Person = "", true })), "hold t1", "held you", false},
		"a turn that was not seen to begin":   {running(func(t *session.Task) { t.Turn = 0 }), seen(busy, one(turn.InProgress, plain)), "begun t1", "running", true},
		"one that was taken for lost":         {running(func(t *session.Task) { t.Turn, t.State, t.Why = 0, session.TaskHeld, "interrupted" }), seen(busy, one(turn.InProgress, plain)), "begun t1", "running", true},
		"one behind a prompt of its user":     {running(func(t *session.Task) { t.Turn, t.State, t.Why = 0, session.TaskHeld, session.HeldYou }), seen(busy, one(turn.Finished, func(t *Turn) { t.Task, t.Person = "", true }), one(turn.InProgress, func(t *Turn) { t.Number = 2 })), "begun t1", "running", true},
		"a turn whose log is gone":            {running(asIs), seen(same), "hold t1", "held interrupted", false},
		"a limit, and it is told":             {running(asIs), seen(same, one(turn.Aborted, hits(later, true))), "hold a,hold t1", "held limit:a until 2 Jan 14:00", false},
		"a limit, to go on":                   {running(asIs), with(seen(same, one(turn.Aborted, hits(later, true))), continues), "hold a,wait t1", "waiting due 2 Jan 14:01", true},
		"a limit too many":                    {running(func(t *session.Task) { t.Limits = 1 }), with(seen(same, one(turn.Aborted, hits(later, true))), continues), "hold a,hold t1", "held limit:a until 2 Jan 14:00", false},
		"a limit whose end nobody tells":      {running(asIs), with(seen(same, one(turn.Aborted, hits(time.Time{}, true))), continues), "hold a,wait t1", "waiting due 2 Jan 12:16", true},
		"a limit, to hand over":               {running(asIs), with(seen(same, one(turn.Aborted, hits(later, true))), handsOver), "hold a,wait t1,handover t1 b", "waiting", true},
		"a limit, and nobody to hand over to": {running(asIs), with(seen(same, one(turn.Aborted, hits(later, true))), func(f *Facts) { handsOver(f); f.CLIs = nil }), "hold a,hold t1", "held limit:a until 2 Jan 14:00; none of b is installed", false},
		"a CLI that goes on by itself":        {running(asIs), with(seen(busy, one(turn.InProgress, func(t *Turn) { t.Limit = &turn.Limit{Until: later} })), continues), "hold a", "running", true},
		"a limit that is lifted":              {changed(oneTask(session.Task{Limited: true, Before: 1, NotYet: noon}), func(q *session.Queue) { q.Lanes["x"] = session.Lane{Seen: 1, Limit: 1} }), with(seen(same, one(turn.Aborted, longAgo)), continues), "continue t1", "waiting", true},
		"one that went on by itself":          {oneTask(session.Task{Limited: true, NotYet: noon}), with(seen(busy, one(turn.InProgress, func(t *Turn) { t.Task, t.Person = "", true })), continues), "begun t1", "running", true},
		"one whose user went on":              {oneTask(session.Task{Limited: true, NotYet: later}), with(seen(same, one(turn.Finished, func(t *Turn) { t.Task, t.Person = "", true })), continues), "hold x", "held you", false},
	} {
		t.Run(name, func(t *testing.T) {
			q, steps := Next(c.q, c.f, noon)
			var said []string
			armed := false
			for _, s := range steps {
				if s.Do == StepArm {
					armed = true
					continue
				}
				of := s.ID
				if of == "" {
					of = s.Agent + s.CLI
				}
				if s.CLI != "" && s.ID != "" {
					of += " " + s.CLI
				}
				said = append(said, fmt.Sprintf("%s %s", s.Do, of))
				if s.String() == "" {
					t.Errorf("%+v has no text", s)
				}
			}
			shown := decide(c.q, c.f, noon).shown()
			last := shown[len(shown)-1]
			if got := strings.TrimLeft(string(last.State)+" "+last.Why, " "); strings.Join(said, ",") != c.steps || strings.TrimSpace(got) != strings.TrimSpace(c.task) || armed != c.armed {
				t.Errorf("%q, the task is %q, armed %t; want %q, %q, %t", strings.Join(said, ","), got, armed, c.steps, c.task, c.armed)
			}
			if again, more := Next(q, c.f, noon); len(more) > len(steps) || fmt.Sprint(again.Tasks) != fmt.Sprint(q.Tasks) {
				t.Errorf("decided twice: %v, then %v", steps, more)
			}
		})
	}
}

// TestLonely: of a turn that no task began a task is made where the configuration asks for it, once.
func TestLonely(t *testing.T) {
	q := (&session.Queue{Session: "s"}).Clone()
	last := one(turn.Aborted, hits(later, true))
	last.Task, last.Person = "", true
	f := seen(same, last)
	if next, _ := Next(q, f, noon); len(next.Tasks) != 0 {
		t.Errorf("nobody asked for %+v", next.Tasks)
	}
	f.Limits = Limits{Continue: true, Times: 1}
	next, _ := Next(q, f, noon)
	if len(next.Tasks) != 1 || next.Tasks[0].ID != "limit-x-1" || next.Tasks[0].Text != session.TextContinue || !next.Tasks[0].NotYet.After(later.Add(time.Minute-1)) {
		t.Fatalf("%+v", next.Tasks)
	}
	if again, _ := Next(next, f, later.Add(time.Second)); len(again.Tasks) != 1 {
		t.Errorf("twice: %+v", again.Tasks)
	}
	f.Agents["x"] = seen(func(a *Agent) { a.SeenCut = 1 }, last).Agents["x"]
	if again, _ := Next(next, f, noon); again.Tasks[0].State != session.TaskDropped {
		t.Errorf("its user has marked it as seen, and it is %+v", again.Tasks[0])
	}
}

// TestNothingOvertakesATurnThatGoesOn: a prompt that waits for the same agent is typed behind the turn that a limit has cut, also between the end
// of the limit and the moment at which the turn goes on.
func TestNothingOvertakesATurnThatGoesOn(t *testing.T) {
	last := one(turn.Aborted, hits(later, true))
	last.Task, last.Person = "", true
	f := seen(same, last)
	f.Limits = Limits{Continue: true, Times: 1}
	q := oneTask(session.Task{})
	q.Lanes["x"] = session.Lane{Seen: 1}
	next, _ := Next(q, f, noon)
	if len(next.Tasks) != 2 {
		t.Fatalf("%+v", next.Tasks)
	}
	goesOn := next.Tasks[1]
	for _, c := range []struct {
		now  time.Time
		want string
	}{{goesOn.NotYet.Add(-time.Second), ""}, {goesOn.NotYet, "continue limit-x-1"}} {
		d := decide(next, f, c.now)
		begins := ""
		for _, s := range d.steps {
			if s.Do == StepPrompt || s.Do == StepContinue {
				begins += strings.TrimSpace(fmt.Sprintf("%s %s", s.Do, s.ID))
			}
		}
		if begins != c.want || d.verdicts["t1"].why != "after:limit-x-1" && d.verdicts["t1"].why != "busy" {
			t.Errorf("at %s: begins %q, t1 waits for %q", c.now, begins, d.verdicts["t1"].why)
		}
	}
}

// TestTwentyTasks: the first of twenty meets a limit, and none of the other nineteen begins.
func TestTwentyTasks(t *testing.T) {
	q := running(asIs)
	for i := range 19 {
		q.Tasks = append(q.Tasks, session.Task{ID: fmt.Sprintf("n%d", i), Kind: session.AgentTask, CLIs: []string{"a"}, State: session.TaskWaiting})
	}
	f := seen(same, one(turn.Aborted, hits(later, true)))
	next, steps := Next(q, f, noon)
	for _, s := range steps {
		if s.Acts() {
			t.Errorf("%s", s)
		}
	}
	_, steps = Next(next, f, later.Add(2*time.Minute))
	if len(steps) == 0 || steps[0].Do != StepStart {
		t.Errorf("the limit is lifted, and next is %v", steps)
	}

	// A time that was over when the limit was met says nothing of its end: as of one without a time it is looked at again later.
	f = seen(same, one(turn.Aborted, hits(noon.Add(-time.Hour), true)))
	next, steps = Next(q, f, noon)
	if at := next.Blocks["a"].Until; slices.ContainsFunc(steps, Step.Acts) || !at.Equal(noon.Add(UsualPace.Again)) {
		t.Errorf("a limit in the past holds until %s, and next is %v", at, steps)
	}
}

// TestSilentCLI: of a CLI whose hooks do not work nobody sees what it does, and no more of its agents are kept at work than others.
func TestSilentCLI(t *testing.T) {
	q := oneTask(session.Task{Kind: session.AgentTask, CLIs: []string{"a"}})
	for i := range 9 {
		q.Tasks = append(q.Tasks, session.Task{ID: fmt.Sprintf("n%d", i), Kind: session.AgentTask, CLIs: []string{"a"}, State: session.TaskWaiting})
	}
	f, now := seen(same), noon
	begun := 0
	for range 60 {
		next, steps := Next(q, f, now)
		q = next
		for _, s := range steps {
			if s.Acts() {
				Claim(q, s, f, now)
				f.Agents[q.Task(s.ID).Agent] = Agent{CLI: "a", Account: "a", Running: true, Silent: now, Ready: live.Busy, Status: session.AgentStatus{State: session.StateRunning}}
				begun++
				break
			}
		}
		now = now.Add(time.Minute)
	}
	if begun != 2 || q.Blocks[breakerOf("a")].CLI != "a" {
		t.Errorf("%d agents were started, and the CLI is held: %v", begun, q.Blocks)
	}
}

// TestNews: the user is told once of what is held by something else than himself, and again when it is held for another reason.
func TestNews(t *testing.T) {
	q := oneTask(session.Task{})
	told := func(f Facts, change func(*session.Queue)) string {
		change(q)
		d := decide(q, f, noon)
		var said []string
		for _, task := range d.news() {
			said = append(said, task.Why)
		}
		q = d.q
		return strings.Join(said, ",")
	}
	blocked := func(until time.Time) func(*session.Queue) {
		return func(q *session.Queue) { q.Blocks["a"] = session.Block{Limit: true, CLI: "a", Until: until} }
	}
	working := func(a *Agent) { a.Ready = live.Busy }
	for i, c := range []struct {
		f      Facts
		change func(*session.Queue)
		want   string
	}{
		{seen(working), func(*session.Queue) {}, ""},
		{seen(same), blocked(later), "limit:a until 2 Jan 14:00"},
		{seen(same), blocked(later.Add(time.Hour)), ""},
		{seen(same), func(q *session.Queue) { q.Held = session.HeldYou }, ""},
		{seen(working), func(q *session.Queue) { q.Held = ""; clear(q.Blocks) }, ""},
		{seen(same), func(q *session.Queue) { q.Blocks["cli a"] = session.Block{CLI: "a"} }, "breaker:a"},
		{seen(same), func(*session.Queue) {}, ""},
		{seen(same), func(q *session.Queue) {
			clear(q.Blocks)
			q.Tasks[0].Refused, q.Tasks[0].RefusedAt = "its pane is in copy mode", noon.Add(-9*time.Minute)
		}, ""},
		{seen(same), func(q *session.Queue) { q.Tasks[0].RefusedAt = noon.Add(-10 * time.Minute) }, "its pane is in copy mode"},
		{seen(same), func(*session.Queue) {}, ""},
	} {
		if got := told(c.f, c.change); got != c.want {
			t.Errorf("%d: told of %q, want %q", i, got, c.want)
		}
	}
}

// TestGoAfterAPersonTyped: what a person has typed before paw queue go does not hold the agent again when its turn begins after that.
func TestGoAfterAPersonTyped(t *testing.T) {
	q := oneTask(session.Task{State: session.TaskWaiting})
	q.Lanes["x"] = session.Lane{Seen: 1, Held: true}
	Go(q, []string{"t1"}, func(string) (string, int) { return "demo", 2 })
	turn2 := one(turn.InProgress, func(t *Turn) { t.Number, t.Person = 2, true })
	next, _ := Next(q, seen(same, turn2), noon)
	if next.Lanes["x"].Held {
		t.Errorf("held again: %+v", next.Lanes["x"])
	}
}

// TestGoLetsOnlyNamedTasksGo: tasks of a queue that is held as a whole stay held when others are let go.
func TestGoLetsOnlyNamedTasksGo(t *testing.T) {
	q := oneTask(session.Task{State: session.TaskWaiting})
	other, done := q.Tasks[0], q.Tasks[0]
	other.ID, done.ID, done.State = "t2", "t3", session.TaskDone
	q.Tasks, q.Held = append(q.Tasks, other, done), "recover"
	agents := func(string) (string, int) { return "demo", 1 }
	states := func() (all []session.TaskState) {
		for _, task := range q.Tasks {
			all = append(all, task.State)
		}
		return all
	}
	Go(q, []string{"t1"}, agents)
	if got, want := states(), []session.TaskState{session.TaskWaiting, session.TaskHeld, session.TaskDone}; q.Held != "" || !slices.Equal(got, want) {
		t.Errorf("held %q, %q, want %q", q.Held, got, want)
	}
	Go(q, nil, agents)
	if got := states(); got[1] != session.TaskWaiting {
		t.Errorf("after --all: %q", got)
	}
}

// TestGoOfATaskWhoseAgentIsNotThere: a prompt that went with the start of an agent is not said to have been typed where no such agent is.
func TestGoOfATaskWhoseAgentIsNotThere(t *testing.T) {
	for cli, want := range map[string]string{"": "t1: its agent is not there, and is not made again; ", "demo": "t1: may have been typed, and is not repeated; "} {
		q := oneTask(session.Task{Kind: session.AgentTask, CLIs: []string{"demo"}, State: session.TaskHeld, Why: session.HeldInterrupted, Typed: true})
		said := Go(q, []string{"t1"}, func(string) (string, int) { return cli, 0 })
		if len(said) != 1 || !strings.HasPrefix(said[0], want) || !strings.HasSuffix(said[0], "paw queue retry t1 does it") {
			t.Errorf("with CLI %q: %q, want %q", cli, said, want)
		}
	}
}
