// Package session keeps what paw remembers of a session: the saved record, its store, the rules for names, the locks
// between paw processes, the identity of processes, and the pure functions that turn a record and what was observed
// into a status.
//
// It never starts a process and knows nothing of git, tmux or the CLIs. Its one invariant: whatever happens to a paw
// process, a record on disk is the old one or the new one, whole.
package session

import (
	"cmp"
	"slices"
	"time"
)

// Version is the version of the session record this paw writes. A field that an older paw must not drop when it
// rewrites the record needs a new version.
const Version = 1

// Status is what a record says about the whole session.
type Status string

// The two statuses of a session.
const (
	StatusActive  Status = "active"
	StatusStopped Status = "stopped"
)

// String returns the word used in records and output.
func (s Status) String() string { return string(s) }

// Phase is what paw last intended for one agent; it is saved before the deed.
type Phase string

// The phases of an agent, in the order of its life.
const (
	PhaseCreating Phase = "creating"
	PhaseLive     Phase = "live"
	PhaseStopping Phase = "stopping"
	PhaseStopped  Phase = "stopped"
	PhaseExited   Phase = "exited" // its CLI ended with 0, as when the user leaves it

	PhaseRemoving   Phase = "removing"   // its worktree is about to go, if nothing in it would be lost
	PhaseDiscarding Phase = "discarding" // the same by force: rescued first, and its directory kept
	PhaseLeaving    Phase = "leaving"    // it is about to leave the record, its worktree stays
)

// String returns the word used in records.
func (p Phase) String() string { return string(p) }

// Session is the record of one `paw start`: a name, a repository and a set of agents.
type Session struct {
	Version      int       `json:"version"` // filled in by Create and Save
	Name         string    `json:"session_name"`
	ID           string    `json:"id,omitempty"`   // of this session alone: names are unique for one user only
	Host         string    `json:"host,omitempty"` // machine that the session runs on, "" for this one; see FarName
	RepoPath     string    `json:"repo_path"`      // main worktree, "" when the repository is bare
	GitCommonDir string    `json:"git_common_dir"`
	ProjectName  string    `json:"project_name"`
	CreatedAt    time.Time `json:"created_at"` // UTC
	Status       Status    `json:"status"`
	Generation   int       `json:"generation"` // counts launches, so that a late launcher of an earlier one gives up
	BaseCommit   string    `json:"base_commit"`
	Tmux         Tmux      `json:"tmux"`
	Agents       []Agent   `json:"worktrees"` // the key says worktrees in every version of the record
	// LastNumber is the highest number that an agent of the session was given, 0 in the record of an older paw.
	LastNumber int       `json:"last_number,omitempty"`
	Target     string    `json:"target,omitempty"` // branch that work lands on, "" where none was checked out at the start
	Landings   []Landing `json:"landings,omitempty"`
	Checks     Checks    `json:"checks,omitzero"`
}

// Checks is what the place has where the checks of a session run.
type Checks struct {
	Ports     *Ports            `json:"ports,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
}

// Ports is a block of consecutive ports that an agent has for itself as long as the record says so.
type Ports struct {
	First int `json:"first"`
	Count int `json:"count"`
}

// Last is the last port of a block.
func (p Ports) Last() int { return p.First + p.Count - 1 }

// Meets reports whether two blocks have a port in common.
func (p Ports) Meets(other Ports) bool { return p.First <= other.Last() && other.First <= p.Last() }

// Tmux is where the panes of a session were made. All of it is a hint: users rename sessions and servers restart.
type Tmux struct {
	Session       string `json:"session"`
	Socket        string `json:"socket"`
	ServerPID     int    `json:"server_pid"`
	ServerStarted int64  `json:"server_started"` // Unix seconds, tmux's #{start_time}; setting the clock does not move it
	// The start time of the server's process and the boot it belongs to, which with its pid tell it from all others; "" and 0
	// in the record of an older paw.
	ServerStart uint64 `json:"server_start_time,omitempty"`
	ServerBoot  string `json:"server_boot_id,omitempty"`
}

// Server is the process of the recorded server, without a boot where an older paw has recorded it.
func (t Tmux) Server() Process {
	return Process{PID: t.ServerPID, StartTime: t.ServerStart, BootID: t.ServerBoot}
}

// SetServer records the server that answers with that pid and start time at a socket.
func (t *Tmux) SetServer(socket string, pid int, started int64) {
	t.Socket, t.ServerPID, t.ServerStarted, t.ServerStart, t.ServerBoot = socket, pid, started, 0, ""
	if p, err := FindProcess(pid); err == nil {
		t.ServerStart, t.ServerBoot = p.StartTime, p.BootID
	}
}

// Agent records what is needed to bring an agent of a session back.
type Agent struct {
	Name            string            `json:"agent"`
	CLI             string            `json:"cli"`
	Branch          string            `json:"branch"`
	WorktreePath    string            `json:"worktree_path"`
	TurnSession     string            `json:"turn_session"`
	Parent          string            `json:"parent"`         // agent that started this one, "" for none
	BranchCreated   bool              `json:"branch_created"` // paw made the branch
	PaneID          string            `json:"pane_id"`
	Command         []string          `json:"command"`
	Environment     map[string]string `json:"environment"`      // what resuming needs
	ConversationIDs []string          `json:"conversation_ids"` // newest last
	TranscriptPath  string            `json:"transcript_path"`
	Phase           Phase             `json:"phase"`
	Number          int               `json:"number,omitempty"`    // the digit that selects it at the desk; see Session.Number
	TurnHighWater   int               `json:"turn_high_water"`     // highest turn number ever given out
	BaseCommit      string            `json:"base_commit"`         // where the agent's branch started
	CreatedAt       time.Time         `json:"created_at,omitzero"` // UTC; zero where an older paw made the agent
	From            *Origin           `json:"from,omitempty"`      // what it started from, nil for a branch from a commit alone
	// TakenBack: its worktree was there before, kept by an earlier agent, with what is in it.
	TakenBack bool `json:"taken_back,omitempty"`
	// Headless: made for turns without a terminal. It gets a pane only when somebody recovers the session by its name.
	Headless bool `json:"headless,omitempty"`

	Finished // in the record like fields of its own

	// Seen are those of the finished turns that the user has looked at. A ref has the state that was looked at.
	Seen Finished `json:"seen,omitzero"`
	// SeenCut is the number of the last turn that was cut and that the user has marked as seen, 0 for none.
	SeenCut int `json:"seen_cut,omitempty"`

	Rewound *Rewound `json:"rewound,omitempty"` // where its worktree is since the last rewind, nil without one
	Shifts  []Shift  `json:"shifts,omitempty"`  // oldest first

	Wait *Wait `json:"wait,omitempty"` // for its children, nil when it waits for none
	Done *Done `json:"done,omitempty"` // what it said of its work, nil when it said nothing
	// Told is the number of its last turn that its parent was told of, -1 when that was its exit before it had one.
	Told  int    `json:"told,omitempty"`
	Ports *Ports `json:"ports,omitempty"` // nil for none
	// Variables are those that its project gives it, filled in for its life.
	Variables map[string]string `json:"variables,omitempty"`
	// Pushed are the commits that paw has pushed, or was about to push, to its branch on a remote; newest last.
	Pushed []string `json:"pushed,omitempty"`
}

// Finished counts the turns that ended well, so that nobody has to read all logs. Tags are no count: a fetch can prune
// them, and anybody can make one.
type Finished struct {
	Turns int `json:"turns_finished,omitzero"`
	Last  int `json:"last_finished,omitzero"` // the number of the last one
}

// Add counts a turn; numbers only grow, so one that was counted before changes nothing.
func (f *Finished) Add(number int) {
	if number > f.Last {
		f.Turns, f.Last = f.Turns+1, number
	}
}

// Origin is the turn of another agent that an agent started from or, without an agent, what the user had not committed. BaseCommit
// has the commit.
type Origin struct {
	Agent        string `json:"agent"`
	Turn         int    `json:"turn"`
	Snapshot     string `json:"snapshot,omitempty"`     // what was not committed then, "" for nothing
	Conversation string `json:"conversation,omitempty"` // the conversation to begin with a copy of, "" for none
	Within       bool   `json:"within,omitempty"`       // it started in the midst of the turn, which went on
}

// Start returns the commit with all that an agent began with: that of the uncommitted work that it took along, else its base.
func (a *Agent) Start() string {
	if a.From != nil && a.From.Snapshot != "" {
		return a.From.Snapshot
	}
	return a.BaseCommit
}

// Handed returns the commit of what the user had not committed and the agent began with, "" for none.
func (a *Agent) Handed() string {
	if a.From != nil && a.From.Agent == "" {
		return a.From.Snapshot
	}
	return ""
}

// Base returns the commit that the agent's own work is compared with.
func (a *Agent) Base() string { return cmp.Or(a.Handed(), a.BaseCommit) }

// Enlist appends agents to the session and numbers them: up to 9 a number is used once in the life of the session, so that no
// digit comes to mean another agent; from then on the lowest one that is free.
func (s *Session) Enlist(agents ...Agent) {
	taken := map[int]bool{}
	for i := range s.Agents {
		s.Agents[i].Number = s.Number(i)
		taken[s.Agents[i].Number] = true
		s.LastNumber = max(s.LastNumber, s.Agents[i].Number)
	}
	for _, a := range agents {
		next := s.LastNumber + 1
		if next > maxDigit {
			for next = 1; taken[next]; next++ {
			}
		}
		a.Number, taken[next], s.LastNumber = next, true, max(s.LastNumber, next)
		s.Agents = append(s.Agents, a)
	}
}

// GiveBackNumber lets the next agent have the number of one that never started and leaves the record, unless a later one has the
// next number.
func (s *Session) GiveBackNumber(name string) {
	if a := s.Agent(name); a != nil && a.Number != 0 && a.Number == s.LastNumber {
		s.LastNumber--
	}
}

// maxDigit is the highest number that one key types.
const maxDigit = 9

// Number returns the number of the agent at a place in the list; an agent of an older paw has that of its place.
func (s *Session) Number(i int) int {
	if s.Agents[i].Number != 0 {
		return s.Agents[i].Number
	}
	return i + 1
}

// Agent returns the agent of that name for reading or changing in place, or nil.
func (s *Session) Agent(name string) *Agent {
	for i := range s.Agents {
		if s.Agents[i].Name == name {
			return &s.Agents[i]
		}
	}
	return nil
}

// AddConversation makes id the newest conversation. Nothing is ever forgotten: a known id moves to the end, and an
// empty one changes nothing.
func (a *Agent) AddConversation(id string) {
	if id == "" {
		return
	}
	others := slices.Clone(a.ConversationIDs) // a copy of the agent shares the list
	others = slices.DeleteFunc(others, func(known string) bool { return known == id })
	a.ConversationIDs = append(others, id)
}

// Conversation returns the id of the newest conversation, "" when none is known.
func (a Agent) Conversation() string {
	if len(a.ConversationIDs) == 0 {
		return ""
	}
	return a.ConversationIDs[len(a.ConversationIDs)-1]
}
