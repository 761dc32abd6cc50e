package main

import (
	"time"

	"paw/orchestrator"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
)

// The JSON that paw prints is a contract of its own, apart from the record
// (docs/json.md). Absent is not null: a field that was not looked at is left
// out, one that was looked at and is empty is null.

type statusJSON struct {
	Version  int           `json:"version"`
	Sessions []sessionJSON `json:"sessions"`
	Problems []problemJSON `json:"problems"`
}

// startedJSON is a status with what start or add did.
type startedJSON struct {
	statusJSON
	Results []resultJSON `json:"results"`
	Notes   []string     `json:"notes"`
}

// planJSON is what start or add would do.
type planJSON struct {
	Version int      `json:"version"`
	Plan    []string `json:"plan"`
	Notes   []string `json:"notes"`
}

// problemJSON is something that could not be read, beside what could.
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

// noted are the notes so far.
func (a *invocation) noted() []string { return append([]string{}, a.notes...) }

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
	HeadBranch     *string    `json:"head_branch"` // null for none
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

	Forecast *agentForecastJSON `json:"forecast,omitempty"`
	Usage    any                `json:"usage,omitempty"` // a *spentJSON, which is null where nothing was taken
}

// limitJSON is a usage limit that is reached.
type limitJSON struct {
	Until *time.Time `json:"until"` // null where the CLI does not say
}

func limitView(l *session.Limit) *limitJSON {
	if l == nil {
		return nil
	}
	return &limitJSON{orNull(l.Until.UTC())}
}

// agentForecastJSON is how the work of an agent would land.
type agentForecastJSON struct {
	Target       string   `json:"target"`
	FilesChanged int      `json:"files_changed"`
	Conflicts    []string `json:"conflicts"`
	With         []string `json:"with"` // agents whose work collides with this one's
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
