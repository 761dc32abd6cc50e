package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	store "paw/worktree/objects"
)

// someSession returns a session whose agents need the user in different ways, or not at all.
func someSession(now time.Time) observe.SessionStatus {
	t := now.Add(-2 * time.Minute)
	agent := func(name, cli string, st session.AgentStatus) observe.AgentStatus {
		st.Since = &t
		return observe.AgentStatus{AgentStatus: st, PID: 7, Branch: "paw/shop/" + name, Record: session.Agent{
			Name: name, CLI: cli, Branch: "paw/shop/" + name, WorktreePath: "/src/shop.paw/shop/" + name}}
	}
	idle := agent("tests", "codex", session.AgentStatus{State: session.StateIdle})
	idle.Prompt, idle.TurnsCompleted, idle.Record.Parent = "write the tests", 2, "web"
	asks := agent("api", "claude", session.AgentStatus{State: session.StateWaitingInput, Reason: "Bash: npm test"})
	asks.Prompt, asks.CurrentTurn, asks.TurnsCompleted = "make the parser strict", 4, 3
	runs := agent("web", "codex", session.AgentStatus{State: session.StateRunning})
	runs.Prompt, runs.CurrentTurn = "add a search box", 1
	off := agent("off", "demo", session.AgentStatus{State: session.StateSuspended, Cause: session.CauseStopped, Reason: session.ReasonStopped})
	off.PID = 0
	return observe.SessionStatus{
		Session: &session.Session{Name: "shop", RepoPath: "/src/shop"}, Status: session.StatusActive,
		Agents: []observe.AgentStatus{off, runs, idle, asks},
	}
}

func plainRun() *invocation {
	plain := false
	return &invocation{printer: printer{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, colours: &plain}}
}

func TestStatusOnATerminal(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for width, want := range map[int]string{
		100: `
shop  active  1 waits for you, 1 running, 1 idle, 1 stopped  /src/shop
  worktrees: /src/shop.paw/shop/AGENT
  AGENT    CLI     STATE          SINCE  TURN  WORK
  api      claude  waits for you  2m     4…    make the parser strict
    ? Bash: npm test
  web      codex   running        2m     1…    add a search box
  └ tests  codex   idle           2m     2     write the tests
  off      demo    stopped        2m
  paw answer shop/api: shows its answers, and takes one
`,
		60: `
shop  active  1 waits for you, 1 running, 1 idle, 1 stopped…
  worktrees: /src/shop.paw/shop/AGENT
  AGENT    STATE          TURN  WORK
  api      waits for you  4…    make the parser strict
    ? Bash: npm test
  web      running        1…    add a search box
  └ tests  idle           2     write the tests
  off      stopped
  paw answer shop/api: shows its answers, and takes one
`,
	} {
		got := "\n" + strings.Join(statusPrinter{plainRun()}.statusLines(someSession(now), now, width), "\n") + "\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d columns (-want +got)\n%s", width, diff)
		}
	}
}

// No line of paw status is wider than the terminal, and columns are aligned, whatever characters
// users and agents write.
func TestStatusFitsAnyWidth(t *testing.T) {
	now := time.Now()
	st := someSession(now)
	st.Session.Name, st.Reason = strings.Repeat("n", 33), "its tmux session is gone and more than that is to be said about it, too"
	for i := range st.Agents {
		ag := &st.Agents[i]
		ag.Record.Name += strings.Repeat("_long", 5)
		ag.Prompt = strings.Repeat("店の検索 ", 30)
		ag.Reason = "Bash: find . -name '*.go' -exec sed -i 's/a/b/g' {} + && " + strings.Repeat("店", 90)
		ag.Record.WorktreePath = "/somewhere/" + strings.Repeat("deep/", 20) + fmt.Sprint(i)
		ag.Record.Branch = "feat/" + strings.Repeat("店", 60)
		dirty := 1200
		ag.ToReview = 1234
		ag.Forecast = &observe.Forecast{Target: "main", Conflicts: []string{"a"}, Others: []string{strings.Repeat("店", 30)}}
		ag.Dirty, ag.Lines = &dirty, &store.Lines{Added: 12345, Deleted: 12345}
	}
	st.Agents[0].State, st.Agents[0].Cause = session.StateWaitingChildren, session.CauseOther
	for width := narrowest; width <= 220; width++ {
		for _, line := range (statusPrinter{plainRun()}).statusLines(st, now, width) {
			if columns.Width(line) > width {
				t.Fatalf("%d columns, %d wide: %q", width, columns.Width(line), line)
			}
		}
	}
}

func TestStatusSaysWhatIsToReview(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	st := someSession(now)
	st.Agents = st.Agents[1:3]
	st.Agents[1].ToReview = 2
	want := `
shop  active  1 running, 1 idle  /src/shop
  worktrees: /src/shop.paw/shop/AGENT
  AGENT    CLI    STATE    SINCE  TURN  NEW      WORK
  web      codex  running  2m     1…             add a search box
  └ tests  codex  idle     2m     2     2 turns  write the tests
`
	if diff := cmp.Diff(want, "\n"+strings.Join(statusPrinter{plainRun()}.statusLines(st, now, 80), "\n")+"\n"); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStatusForecasts(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	st := someSession(now)
	st.Agents[0].Forecast = &observe.Forecast{Target: "main", Conflicts: []string{"a.go"}, Others: []string{"web", "one with a long name"}}
	st.Agents[1].Forecast = &observe.Forecast{Target: "main", Files: 2}
	st.Agents[2].Forecast = &observe.Forecast{Target: "main"}
	want := `
shop  active  1 waits for you, 1 running, 1 idle, 1 stopped  /src/shop
  worktrees: /src/shop.paw/shop/AGENT
  AGENT    CLI     STATE          SINCE  TURN  COLLIDES WITH             WORK
  api      claude  waits for you  2m     4…                              make the parser strict
    ? Bash: npm test
  web      codex   running        2m     1…    nothing                   add a search box
  └ tests  codex   idle           2m     2                               write the tests
  off      demo    stopped        2m           main, web, one with a l…
  paw answer shop/api: shows its answers, and takes one
`
	got := "\n" + strings.Join(statusPrinter{plainRun()}.statusLines(st, now, 110), "\n") + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMostUrgentFirst(t *testing.T) {
	state := map[string]session.AgentStatus{
		"w": {State: session.StateWaitingInput}, "e": {State: session.StateError}, "c": {State: session.StateSuspended, Reason: session.ReasonCrash},
		"u": {State: session.StateUnknown}, "r": {State: session.StateRunning}, "i": {State: session.StateIdle}, "n": {State: session.StateIdle},
		"s": {State: session.StateSuspended, Cause: session.CauseStopped},
	}
	for _, c := range []struct{ agents, want string }{
		{"s i r u c e w", "w e c u r i s"},
		{"i1 r1 i2 r2", "r1 r2 i1 i2"},
		{"i1 r1 i2 w2<i1", "i1 └ w2 r1 i2"},
		{"s1 w1<s1 e1", "s1 └ w1 e1"},
		{"w0 w5 w9", "w9 w5 w0"},                   // the longest wait first, as at the desk; of w0 it is unknown
		{"i1 w3 i2 w7<i2", "i2 └ w7 w3 i1"},        // also of a child
		{"i1 n2 i3 n4", "n4 n2 i1 i3"},             // turns that were not seen come first, the oldest ends before
		{"r1 r9 s1 s9 i1 i9", "r1 r9 i1 i9 s1 s9"}, // of the others nobody waits
	} {
		var agents []observe.AgentStatus
		for _, word := range strings.Fields(c.agents) {
			name, parent, _ := strings.Cut(word, "<")
			ag := observe.AgentStatus{AgentStatus: state[name[:1]], Record: session.Agent{Name: name, Parent: parent}}
			if minutes, _ := strconv.Atoi(name[1:]); minutes > 0 {
				since := time.Unix(0, 0).Add(-time.Duration(minutes) * time.Minute)
				ag.Since = &since
			}
			if name[0] == 'n' {
				ag.ToReview = 1
			}
			agents = append(agents, ag)
		}
		var got []string
		for _, r := range mostUrgent(agents) {
			got = append(got, r.label())
		}
		if line := strings.Join(got, " "); line != c.want {
			t.Errorf("%s: %s, want %s", c.agents, line, c.want)
		}
	}
}

func TestStateCounts(t *testing.T) {
	w, c := session.AgentStatus{State: session.StateWaitingInput}, session.AgentStatus{State: session.StateWaitingChildren}
	if got := stateCounts([]observe.AgentStatus{{AgentStatus: c}, {AgentStatus: w}, {AgentStatus: c}, {AgentStatus: w}}); got != "2 wait for you, 2 wait for their children" {
		t.Error(got)
	}
}

// Usage is a column where --usage was given and the width allows, and a part of --json.
func TestStatusWithUsage(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	st := someSession(now)
	for i := range st.Agents {
		st.Agents[i].Used = &cli.Spent{}
	}
	st.Agents[1].Used = &cli.Spent{Input: 900, CacheRead: 11_000, CacheWrite: 400, Output: 1050, Answers: 3, Cost: 0.126, Priced: true}
	for width, want := range map[int]string{
		100: "  AGENT    CLI     STATE          SINCE  TURN  USAGE                      WORK\n" +
			"  web      codex   running        2m     1…    12.3k in, 1.1k out, $0.13  add a search box\n",
		60: "  AGENT    STATE          TURN  USAGE\n" +
			"  web      running        1…    12.3k in, 1.1k out, $0.13\n",
		50: "  AGENT    STATE          TURN\n" +
			"  web      running        1…\n",
	} {
		got := strings.Join(statusPrinter{plainRun()}.statusLines(st, now, width), "\n") + "\n"
		for line := range strings.Lines(want) {
			if !strings.Contains(got, line) {
				t.Errorf("%d columns: no line %q in\n%s", width, line, got)
			}
		}
	}
	for i, want := range []string{`"usage":null`, `"usage":{"input_tokens":900,"cache_read_tokens":11000,"cache_write_tokens":400,"output_tokens":1050,"answers":3,"cost_usd":0.126}`} {
		if got, err := json.Marshal(agentView(st.Agents[i])); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s, %v, without %s", got, err, want)
		}
	}
	st.Agents[0].Used = nil
	if got, err := json.Marshal(agentView(st.Agents[0])); err != nil || strings.Contains(string(got), `"usage"`) {
		t.Errorf("nobody asked: %s, %v", got, err)
	}
}
