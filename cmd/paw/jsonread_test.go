package main

import (
	"time"

	"paw/orchestrator/landing"
	"paw/orchestrator/selftest"
	"paw/session"
)

// What paw prints with --json, as the tests read it: the types say which fields there are, apart from
// the code that writes them.

type statusJSON struct {
	Version  int           `json:"version"`
	Sessions []sessionJSON `json:"sessions"`
	Problems []problemJSON `json:"problems"`
}

type problemJSON struct {
	Error string   `json:"error"`
	Hints []string `json:"hints"`
}

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
	Word           string     `json:"word"`
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

type agentForecastJSON struct {
	Target       string   `json:"target"`
	FilesChanged int      `json:"files_changed"`
	Conflicts    []string `json:"conflicts"`
	With         []string `json:"with"` // agents whose work conflicts with this agent's
}

type turnsJSON struct {
	Version int              `json:"version"`
	Session string           `json:"session"`
	Agents  []agentTurnsJSON `json:"agents"`

	Problems []problemJSON `json:"problems"`
}

type agentTurnsJSON struct {
	Name      string     `json:"name"`
	Turns     []turnJSON `json:"turns"`
	RewoundTo *int       `json:"rewound_to"`
}

type turnJSON struct {
	Number       int        `json:"number"`
	Type         string     `json:"type"`
	State        string     `json:"state"`
	Outcome      *string    `json:"outcome"`
	Reason       *string    `json:"reason"`
	CommitHash   *string    `json:"commit_hash"`
	Snapshot     *string    `json:"snapshot"`
	Tag          *string    `json:"tag"`
	StartedAt    *time.Time `json:"started_at"`
	EndedAt      *time.Time `json:"ended_at"`
	FilesChanged *int       `json:"files_changed"`
	Prompt       string     `json:"prompt"`
	Message      *string    `json:"message"`
	ErrorType    *string    `json:"error_type"`
	Limit        *limitJSON `json:"limit"`
	Trace        *string    `json:"trace"`
	Children     []string   `json:"children"`
	Notes        []string   `json:"notes"`
}

type spawnJSON struct {
	Version      int      `json:"version"`
	Session      string   `json:"session"`
	Name         string   `json:"name"`
	CLI          string   `json:"cli"`
	Parent       string   `json:"parent"`
	Branch       string   `json:"branch"`
	WorktreePath string   `json:"worktree_path"`
	BaseCommit   string   `json:"base_commit"`
	Snapshot     *string  `json:"snapshot"`
	Result       string   `json:"result"`
	Reason       *string  `json:"reason"`
	Notes        []string `json:"notes"`
}

type trialJSON struct {
	Version    int             `json:"version"`
	CLI        string          `json:"cli"`
	Path       string          `json:"path"`
	CLIVersion *string         `json:"cli_version"`
	LookedAt   *lookedAtJSON   `json:"looked_at"`
	Seconds    float64         `json:"seconds"`
	Plays      []selftest.Line `json:"plays"`
}

type lookedAtJSON struct {
	Oldest   string  `json:"oldest"`
	Newest   string  `json:"newest"`
	Standing *string `json:"standing"` // a cli.Standing, null if unknown
}

type waitJSON struct {
	Version  int           `json:"version"`
	Session  string        `json:"session"`
	Finished bool          `json:"finished"`
	Agents   []awaitedJSON `json:"agents"`
}

type awaitedJSON struct {
	Name       string     `json:"name"`
	CLI        *string    `json:"cli"`
	Branch     *string    `json:"branch"`
	Finished   bool       `json:"finished"`
	State      *string    `json:"state"`
	StateSince *time.Time `json:"state_since"`
	Reason     *string    `json:"reason"`
	Outcome    *string    `json:"outcome"`
	Failed     *bool      `json:"failed"`
	Turn       *int       `json:"turn"`
	Files      *int       `json:"files_changed"`
	Message    *string    `json:"message"`
	Host       *string    `json:"host,omitempty"`    // only for an agent of another machine
	Session    *string    `json:"session,omitempty"` // only for an agent of another machine
}

type landJSON struct {
	Version   int                 `json:"version"`
	Landings  []landingJSON       `json:"landings"`
	Conflicts []landing.Collision `json:"conflicts"`            // of the landing at which the command stopped
	NotLanded []notLandedJSON     `json:"not_landed,omitempty"` // only with --keep-going
	Behind    []string            `json:"behind"`               // agents that lack what has landed now
	Notes     []string            `json:"notes"`
}

type landingJSON struct {
	ID           *int       `json:"id"` // null before the landing
	Session      string     `json:"session"`
	Agent        string     `json:"agent"`
	Target       string     `json:"target"`
	State        string     `json:"state"`
	Turn         *int       `json:"turn"`  // null for the present state of the agent
	Turns        *string    `json:"turns"` // null if paw knows of no turns
	As           string     `json:"as"`
	Before       string     `json:"before"`
	After        string     `json:"after"`
	FilesChanged int        `json:"files_changed"`
	Title        string     `json:"title"`
	LandedAt     *time.Time `json:"landed_at"`
	Standing     string     `json:"standing,omitempty"` // only in a list: whether the target still has the landing
}

type notLandedJSON struct {
	Agent     string              `json:"agent"`
	Error     string              `json:"error"`
	ExitCode  int                 `json:"exit_code"` // exit code of paw land for this agent alone
	Conflicts []landing.Collision `json:"conflicts"`
	Hints     []string            `json:"hints"`
}

type versionJSON struct {
	Version int    `json:"version"` // version of this object
	Paw     string `json:"paw"`
}

type hostJSON struct {
	Name    string     `json:"name"`
	Reached bool       `json:"reached"`
	AsOf    *time.Time `json:"as_of"` // time of the host's answer; null if there never was one
	Error   *string    `json:"error"`
}
