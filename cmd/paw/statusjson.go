package main

import (
	"strings"
	"time"

	"paw/orchestrator"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
)

// paw's JSON is a contract of its own, apart from the session's record (docs/json.md). A field that
// was not looked at is left out; a field that was looked at and is empty is null.

type statusJSON struct {
	Version  int           `json:"version"`
	Sessions []sessionJSON `json:"sessions"`
	Problems []problemJSON `json:"problems"`
}

// startedJSON is the status after start or add, with the result for each agent.
type startedJSON struct {
	statusJSON
	Results []resultJSON `json:"results"`
	Notes   []string     `json:"notes"`
}

// planJSON is the plan of start or add, for --dry-run.
type planJSON struct {
	Version int      `json:"version"`
	Plan    []string `json:"plan"`
	Notes   []string `json:"notes"`
}

type problemJSON struct {
	Error string   `json:"error"`
	Hints []string `json:"hints"`
}

func problemsView(problems []error) []problemJSON {
	view := []problemJSON{}
	for _, problem := range problems {
		view = append(view, problemJSON{Error: problem.Error(), Hints: hintsOf(problem)})
	}
	return view
}

// noted returns the notes so far, never nil.
func (p *printer) noted() []string { return append([]string{}, p.notes...) }

type sessionJSON struct {
	Name         string      `json:"name"`
	RepoPath     string      `json:"repo_path"`
	ProjectName  string      `json:"project_name"`
	CreatedAt    time.Time   `json:"created_at"`
	Status       string      `json:"status"`
	RecordStatus string      `json:"record_status"`
	Reason       *string     `json:"reason"`
	Tmux         tmuxJSON    `json:"tmux"`
	Agents       []agentJSON `json:"agents"`
}

type tmuxJSON struct {
	Session string `json:"session"`
	Socket  string `json:"socket"`
	Alive   *bool  `json:"alive,omitempty"`
}

type agentJSON struct {
	Name           string     `json:"name"`
	CLI            string     `json:"cli"`
	Branch         string     `json:"branch"`
	HeadBranch     *string    `json:"head_branch"` // null without a branch
	WorktreePath   string     `json:"worktree_path"`
	PaneID         *string    `json:"pane_id"`
	PaneAlive      *bool      `json:"pane_alive,omitempty"`
	PID            *int       `json:"pid"`
	State          string     `json:"state"`
	StateSince     *time.Time `json:"state_since"`
	StateSource    string     `json:"state_source"`
	Reason         *string    `json:"reason"`
	Parent         *string    `json:"parent"`
	Children       []string   `json:"children"`
	ConversationID *string    `json:"conversation_id"`
	ExitCode       *int       `json:"exit_code"`
	Dirty          *int       `json:"dirty,omitempty"`
	TurnsCompleted int        `json:"turns_completed"`
	CurrentTurn    *int       `json:"current_turn"`
	LastTag        *string    `json:"last_tag"`
	Hooks          string     `json:"hooks"`
	ToReview       int        `json:"to_review"`
	CutTurn        *int       `json:"cut_turn"`
	Limit          *limitJSON `json:"limit"`

	Limits []session.Window `json:"limits"`
	Ports  *[2]int          `json:"ports"` // first and last port

	PullRequest *string `json:"pull_request"`
	SetUpFailed *string `json:"set_up_failed"`

	Forecast *agentForecastJSON `json:"forecast,omitempty"`
	Usage    any                `json:"usage,omitempty"` // a *spentJSON; null if there was no usage
}

type limitJSON struct {
	Until *time.Time `json:"until"` // null if the CLI does not say
}

func limitView(l *session.Limit) *limitJSON {
	if l == nil {
		return nil
	}
	return &limitJSON{orNull(l.Until.UTC())}
}

type agentForecastJSON struct {
	Target       string   `json:"target"`
	FilesChanged int      `json:"files_changed"`
	Conflicts    []string `json:"conflicts"`
	With         []string `json:"with"` // agents whose work conflicts with this agent's
}

func statusView(statuses []observe.SessionStatus, problems []error) statusJSON {
	view := statusJSON{Version: 1, Sessions: []sessionJSON{}, Problems: problemsView(problems)}
	for _, st := range statuses {
		s := st.Session
		sv := sessionJSON{
			Name: s.Name, RepoPath: s.RepoPath, ProjectName: s.ProjectName, CreatedAt: s.CreatedAt,
			Status: string(st.Status), RecordStatus: string(s.Status), Reason: orNull(st.Reason),
			Tmux:   tmuxJSON{Session: s.Tmux.Session, Socket: s.Tmux.Socket, Alive: st.TmuxAlive},
			Agents: []agentJSON{},
		}
		for _, ag := range st.Agents {
			sv.Agents = append(sv.Agents, agentView(ag))
		}
		view.Sessions = append(view.Sessions, sv)
	}
	return view
}

func agentView(ag observe.AgentStatus) agentJSON {
	w := ag.Record
	v := agentJSON{
		Name: w.Name, CLI: w.CLI, Branch: w.Branch, HeadBranch: orNull(ag.Branch), WorktreePath: w.WorktreePath, PaneID: orNull(ag.PaneID),
		PaneAlive: ag.PaneAlive, State: string(ag.State), StateSince: ag.Since, StateSource: string(ag.Source),
		Reason: orNull(ag.Reason), Parent: orNull(w.Parent), Children: append([]string{}, ag.Children...), PID: orNull(ag.PID),
		ConversationID: orNull(w.Conversation()), ExitCode: ag.ExitCode, Dirty: ag.Dirty,
		TurnsCompleted: ag.TurnsCompleted, CurrentTurn: orNull(ag.CurrentTurn), CutTurn: orNull(ag.CutTurn), ToReview: ag.ToReview, LastTag: orNull(ag.LastTag), Hooks: ag.Hooks,
		Limit: limitView(ag.Limit), Limits: append([]session.Window{}, ag.Windows...),
	}
	v.Ports, v.PullRequest, v.SetUpFailed = portsView(w.Ports), orNull(w.PullRequest), orNull(w.SetUpFailed)
	if o := ag.Forecast; o != nil {
		v.Forecast = &agentForecastJSON{o.Target, o.Files, append([]string{}, o.Conflicts...), append([]string{}, o.Others...)}
	}
	if ag.Used != nil {
		v.Usage = spentView(*ag.Used)
	}
	return v
}

type recoverJSON struct {
	Version  int                  `json:"version"`
	Sessions []recoverSessionJSON `json:"sessions"`
	Problems []problemJSON        `json:"problems"`
	Notes    []string             `json:"notes"`
}

type recoverSessionJSON struct {
	Name   string       `json:"name"`
	Left   *string      `json:"left_alone"`
	Agents []resultJSON `json:"agents"`
	Error  *string      `json:"error"`
	Hints  []string     `json:"hints"`
}

type resultJSON struct {
	Name   string   `json:"name"`
	CLI    string   `json:"cli"`
	Result string   `json:"result"`
	Reason *string  `json:"reason"`
	Hints  []string `json:"hints"`
	Notes  []string `json:"notes"`
}

func recoveredView(all []orchestrator.Recovered, problems []error, notes []string) recoverJSON {
	view := recoverJSON{Version: 1, Sessions: []recoverSessionJSON{}, Problems: problemsView(problems), Notes: notes}
	for _, r := range all {
		sv := recoverSessionJSON{Name: r.Session.Name, Left: orNull(r.Left), Agents: resultsView(r.Results), Hints: []string{}}
		if r.Err != nil {
			sv.Error, sv.Hints = orNull(r.Err.Error()), hintsOf(r.Err)
		}
		view.Sessions = append(view.Sessions, sv)
	}
	return view
}

func resultsView(results []launch.Result) []resultJSON {
	view := []resultJSON{}
	for _, one := range results {
		view = append(view, resultJSON{
			Name: one.Agent, CLI: one.CLI, Result: string(one.Kind), Reason: orNull(one.Reason),
			Hints: append([]string{}, one.Hints...), Notes: append([]string{}, one.Notes...),
		})
	}
	return view
}

// relative is an agent in the tree of parents and children.
type relative struct {
	*observe.AgentStatus
	depth int // 0 for an agent without a parent in the session
}

// families sorts agents so that children follow their parents. An agent whose parent has left
// counts as one without a parent. Agents whose parents form a circle, which paw never writes, come
// last.
func families(agents []observe.AgentStatus) []relative {
	children, known := map[string][]*observe.AgentStatus{}, map[string]bool{}
	for i := range agents {
		known[agents[i].Record.Name] = true
	}
	for i := range agents {
		a := &agents[i]
		parent := a.Record.Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], a)
	}
	ordered := make([]relative, 0, len(agents))
	placed := map[string]bool{}
	var place func(a *observe.AgentStatus, depth int)
	place = func(a *observe.AgentStatus, depth int) {
		if placed[a.Record.Name] {
			return
		}
		placed[a.Record.Name] = true
		ordered = append(ordered, relative{a, depth})
		for _, child := range children[a.Record.Name] {
			place(child, depth+1)
		}
	}
	for _, a := range children[""] {
		place(a, 0)
	}
	for i := range agents {
		place(&agents[i], 0)
	}
	return ordered
}

// label returns the agent's name, for a child behind a branch of the tree.
func (r relative) label() string {
	if r.depth == 0 {
		return r.Record.Name
	}
	return strings.Repeat("  ", r.depth-1) + "└ " + r.Record.Name
}

// portsView returns the first and the last port of a block, nil for none.
func portsView(p *session.Ports) *[2]int {
	if p == nil {
		return nil
	}
	return &[2]int{p.First, p.Last()}
}
