package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/orchestrator/observe"
	"paw/session"
)

// askHosts asks the hosts that have a checkout of the current repository, or with all every host,
// in the background. The returned function waits for the answers, as long as each host's timeout
// allows.
func askHosts(ctx context.Context, h *app.App, all bool) (answers func() []hosts.Answer) {
	places := placesOf(h, all)
	if len(places) == 0 {
		return noHosts
	}
	client, err := sshClient(h)
	if err != nil {
		return func() []hosts.Answer { return []hosts.Answer{{Host: places[0].Name, Err: err}} }
	}
	asked := make(chan []hosts.Answer, 1)
	go func() { asked <- client.Statuses(ctx, places, h.Now) }()
	var got []hosts.Answer
	return func() []hosts.Answer {
		if got == nil {
			got = <-asked
		}
		return got
	}
}

// placesOf returns the hosts that have a checkout of the current repository, with these checkouts,
// or with all every host.
func placesOf(h *app.App, all bool) (places []hosts.Place) {
	for _, name := range slices.Sorted(maps.Keys(h.Config.Hosts)) {
		host := h.Config.Hosts[name]
		dir, mapped := hosts.There(host.Repos, h.Root())
		if all {
			dir = ""
		}
		if all || mapped {
			places = append(places, hosts.Place{Host: hosts.Host{Name: name, Host: host}, Dir: dir})
		}
	}
	return places
}

// noHosts returns no answers; it stands for askHosts where no host is to be asked.
func noHosts() []hosts.Answer { return nil }

// withHosts adds the answers of hosts to the status of this machine. Sessions of a host are objects
// from its answer; as_of is the time of the answer, null if there never was one.
func withHosts(statuses []observe.SessionStatus, problems []error, answers []hosts.Answer) object {
	var sessions []any
	for _, st := range statuses {
		sessions = append(sessions, sessionView(st))
	}
	asked := objects(answers, func(one hosts.Answer) object {
		sessions = append(sessions, one.Objects()...)
		why := any(nil)
		if one.Err != nil {
			why = orNull(whyNot(one.Err))
		}
		return object{{"name", one.Host}, {"reached", one.Err == nil}, {"as_of", orNull(one.AsOf)}, {"error", why}}
	})
	return object{{"version", 1}, {"sessions", sessions}, {"problems", problemsView(problems)}, {"hosts", asked}}
}

// whyNot returns why a host gave no answer, without the name of the host.
func whyNot(err error) string {
	var lost *hosts.NotReached
	var refused *hosts.Refusal
	switch {
	case errors.As(err, &lost) && lost.Connecting:
		return "connecting"
	case errors.As(err, &lost):
		return lost.Why
	case errors.As(err, &refused):
		return refused.Said
	}
	return err.Error()
}

// causes maps a reason in the JSON of paw status to the cause of a state that the user has brought
// about.
var causes = map[string]session.Cause{session.ReasonStopped: session.CauseStopped, session.ReasonClosed: session.CauseClosed}

// hostStatuses converts the sessions in a host's answer to the type that the tables of paw status
// print. They are named HOST:SESSION.
func hostStatuses(one hosts.Answer, now time.Time) []observe.SessionStatus {
	var statuses []observe.SessionStatus
	for _, s := range one.Sessions() {
		st := observe.SessionStatus{
			Session: &session.Session{Name: session.FarName(one.Host, s.Text("name")), Host: one.Host, RepoPath: s.Text("repo_path")},
			Status:  session.Status(s.Text("status")), Reason: s.Text("reason"),
		}
		if one.Err != nil {
			st.Reason = "as of " + ui.Age(now.Sub(one.AsOf)) + " ago"
		}
		for _, g := range s.List("agents") {
			st.Session.Agents = append(st.Session.Agents, session.Agent{Name: g.Text("name")})
			st.Agents = append(st.Agents, observe.AgentStatus{
				Record:         session.Agent{Name: g.Text("name"), CLI: g.Text("cli"), Branch: g.Text("branch"), WorktreePath: g.Text("worktree_path"), Parent: g.Text("parent")},
				AgentStatus:    stateThere(g),
				Branch:         g.Text("head_branch"),
				TurnsCompleted: g.Number("turns_completed"), CurrentTurn: g.Number("current_turn"), ToReview: g.Number("to_review"),
				PID: g.Number("pid"),
			})
		}
		statuses = append(statuses, st)
	}
	return statuses
}

// stateThere returns the state of an agent in a host's answer.
func stateThere(agent hosts.Said) session.AgentStatus {
	reason := agent.Text("reason")
	st := session.AgentStatus{
		State: session.State(agent.Text("state")), Word: agent.Text("word"), Reason: reason, Since: agent.Time("state_since"), Cause: causes[reason],
		CutTurn: agent.Number("cut_turn"),
	}
	if limit, is := agent["limit"].(map[string]any); is {
		st.Limit = &session.Limit{}
		if until := hosts.Said(limit).Time("until"); until != nil {
			st.Limit.Until = *until
		}
	}
	return st
}

// reached returns the sessions of the hosts that answered.
func reached(answers []hosts.Answer, now time.Time) (statuses []observe.SessionStatus) {
	for _, one := range answers {
		if one.Err == nil {
			statuses = append(statuses, hostStatuses(one, now)...)
		}
	}
	return statuses
}

// silent says of each host that has not answered why.
func silent(answers []hosts.Answer) (lines []string) {
	for _, one := range answers {
		if one.Err != nil {
			lines = append(lines, one.Host+" could not be asked: "+whyNot(one.Err))
		}
	}
	return lines
}

// hostLine returns the row of a host that gave no answer: the reason, and the age of the last answer.
func (p statusPrinter) hostLine(one hosts.Answer, now time.Time, width int) string {
	word := "unreachable"
	why := whyNot(one.Err)
	if why == "connecting" {
		word, why = "connecting", "asked again by the next command"
	}
	if one.Status != nil {
		why += ", as of " + ui.Age(now.Sub(one.AsOf)) + " ago"
	}
	line := fmt.Sprintf("%s  %s  %s", one.Host, p.colour(word, string(session.StateUnknown)), why)
	if width == 0 {
		return line
	}
	return columns.Cut(line, width)
}

// hostLines formats hosts. The sessions of a host that gave no answer are grey.
func (p statusPrinter) hostLines(answers []hosts.Answer, now time.Time, width int) []string {
	var lines []string
	for _, one := range answers {
		if one.Err != nil {
			lines = append(lines, "", p.hostLine(one, now, width))
		}
		for _, st := range hostStatuses(one, now) {
			lines = append(lines, "")
			for _, line := range p.statusLines(st, now, width) {
				if one.Err != nil {
					line = p.paint(strings.TrimRight(display.Strip(line), " "), styleDim)
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// hostFeeds follows hosts for the desk and for paw status --watch. For each host it keeps an ssh
// process that runs paw status --watch --json there.
type hostFeeds struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
	news   chan<- struct{} // receives a value when a host has answered

	mu      sync.Mutex
	answers []hosts.Answer
	fresh   bool
}

// feedPauses are the pauses before another try to reach a lost host; the last one repeats.
var feedPauses = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}

// followHosts starts to follow the hosts that have a checkout of the current repository, or with
// all every host.
func followHosts(h *app.App, all bool, news chan<- struct{}) *hostFeeds {
	f := &hostFeeds{cancel: func() {}, news: news}
	places := placesOf(h, all)
	if len(places) == 0 {
		return f
	}
	client, err := sshClient(h)
	if err != nil {
		f.answers = []hosts.Answer{{Host: places[0].Name, Err: err}}
		return f
	}
	var ctx context.Context
	ctx, f.cancel = context.WithCancel(context.Background())
	f.answers = make([]hosts.Answer, len(places))
	for i, p := range places {
		f.answers[i] = client.Last(p)
		f.answers[i].Err = &hosts.NotReached{Host: p.Name, Connecting: true}
		f.ended.Go(func() { f.follow(ctx, client, p, i, h.Now) })
	}
	return f
}

// follow follows one host until close is called.
func (f *hostFeeds) follow(ctx context.Context, client hosts.Client, p hosts.Place, i int, now func() time.Time) {
	for lost := 0; ctx.Err() == nil; lost++ {
		err := client.Follow(ctx, p, now, func(told hosts.Answer) {
			lost = 0
			f.set(i, told)
		})
		f.mu.Lock()
		last := f.answers[i]
		f.mu.Unlock()
		last.Err = err
		f.set(i, last)
		select {
		case <-ctx.Done():
		case <-time.After(feedPauses[min(lost, len(feedPauses)-1)]):
		}
	}
}

func (f *hostFeeds) set(i int, told hosts.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[i], f.fresh = told, true
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// now returns the last answer of each host.
func (f *hostFeeds) now() []hosts.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh = false
	return append([]hosts.Answer{}, f.answers...)
}

// changed reports whether a host has answered since the last call of now.
func (f *hostFeeds) changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fresh
}

// close ends the ssh processes.
func (f *hostFeeds) close() {
	f.cancel()
	f.ended.Wait()
}

// attachThere shows the pane of an agent HOST:SESSION/AGENT in this terminal.
func attachThere(ctx context.Context, h *app.App, name string) error {
	of, agent, _ := strings.Cut(name, ":")
	host, client, err := hostAndClient(h, of)
	if err != nil {
		return err
	}
	err = endedThere(client.Screen(ctx, host, hosts.NewRequest("", "attach", agent), os.Stdin, os.Stdout, os.Stderr))
	if _, ok := errors.AsType[exitStatus](err); ok {
		return errs.New(errs.Failed, "%s: could not be shown", name).Hint("paw status")
	}
	return err
}
