// Package session holds paw's record of a session: the saved record and its store, the rules for
// names, the locks between paw processes, the identity of processes, and pure functions from a
// record and observed facts to a status.
//
// The package starts no process, knows nothing of git, tmux or the CLIs, and has one invariant:
// whatever happens to a paw process, a record on disk is either the old one or the new one, whole.
package session

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Version is the version of the record that this paw writes. A new field that an older paw must not
// drop on rewriting needs a new version.
const Version = 1

// Status is the state of a whole session in its record.
type Status string

// Statuses of a session.
const (
	StatusActive  Status = "active"
	StatusStopped Status = "stopped"
)

// Phase is paw's last intention for an agent. A phase is saved before the step it names is taken.
type Phase string

// Phases of an agent, in the order of its life.
const (
	PhaseCreating Phase = "creating"
	PhaseLive     Phase = "live"
	PhaseStopping Phase = "stopping"
	PhaseStopped  Phase = "stopped"
	PhaseExited   Phase = "exited" // the CLI exited with 0, as when the user quits it

	PhaseRemoving   Phase = "removing"   // the worktree is about to be removed, unless work in it would be lost
	PhaseDiscarding Phase = "discarding" // the worktree is about to be removed by force: its state is rescued, and its directory kept
	PhaseLeaving    Phase = "leaving"    // the agent is about to leave the record; its worktree stays
)

// Removal reports whether the agent is about to be removed.
func (p Phase) Removal() bool {
	return p == PhaseRemoving || p == PhaseDiscarding || p == PhaseLeaving
}

// Stop reports whether the agent was stopped, or is being stopped.
func (p Phase) Stop() bool { return p == PhaseStopping || p == PhaseStopped }

// Session is the record of one `paw start`: a name, a repository and a set of agents.
type Session struct {
	Version      int       `json:"version"` // version of the record; Create and Save set it
	Name         string    `json:"session_name"`
	ID           string    `json:"id,omitempty"`   // unique id; names are unique for one user only
	Host         string    `json:"host,omitempty"` // host the session runs on, "" for this machine; see FarName
	RepoPath     string    `json:"repo_path"`      // main worktree, "" for a bare repository
	GitCommonDir string    `json:"git_common_dir"`
	ProjectName  string    `json:"project_name"`
	CreatedAt    time.Time `json:"created_at"` // creation time in UTC
	Status       Status    `json:"status"`
	Generation   int       `json:"generation"` // counts launches, so that the launcher of an earlier launch gives up
	BaseCommit   string    `json:"base_commit"`
	Tmux         Tmux      `json:"tmux"`
	Agents       []Agent   `json:"worktrees"` // "worktrees" in every version of the record
	// LastNumber is the highest number given to an agent of the session, 0 if written by an older
	// paw.
	LastNumber int       `json:"last_number,omitempty"`
	Target     string    `json:"target,omitempty"` // branch that work lands on, "" if none was checked out at the start
	Landings   []Landing `json:"landings,omitempty"`
	Checks     Checks    `json:"checks,omitzero"`
}

// Checks holds the ports and variables of the worktree in which the session's checks run.
type Checks struct {
	Ports     *Ports            `json:"ports,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
}

// Ports is a block of consecutive ports that an agent owns while the record says so.
type Ports struct {
	First int `json:"first"`
	Count int `json:"count"`
}

// Last returns the last port of the block.
func (p Ports) Last() int { return p.First + p.Count - 1 }

// Meets reports whether two blocks overlap.
func (p Ports) Meets(other Ports) bool { return p.First <= other.Last() && other.First <= p.Last() }

// Tmux says where a session's panes were made. All fields are hints: users rename sessions, and
// servers restart.
type Tmux struct {
	Session       string `json:"session"`
	Socket        string `json:"socket"`
	ServerPID     int    `json:"server_pid"`
	ServerStarted int64  `json:"server_started"` // tmux's #{start_time}, in Unix seconds; not changed by setting the clock
	// ServerStart and ServerBoot, the start time and boot id of the server's process, identify it
	// together with its PID; 0 and "" if written by an older paw.
	ServerStart uint64 `json:"server_start_time,omitempty"`
	ServerBoot  string `json:"server_boot_id,omitempty"`
}

// Server identifies the process of the recorded server; without a BootID if written by an older
// paw.
func (t Tmux) Server() Process {
	return Process{PID: t.ServerPID, StartTime: t.ServerStart, BootID: t.ServerBoot}
}

// SetServer records the server at a socket, with its PID and #{start_time}.
func (t *Tmux) SetServer(socket string, pid int, started int64) {
	t.Socket, t.ServerPID, t.ServerStarted, t.ServerStart, t.ServerBoot = socket, pid, started, 0, ""
	if p, err := FindProcess(pid); err == nil {
		t.ServerStart, t.ServerBoot = p.StartTime, p.BootID
	}
}

// Agent records everything needed to bring an agent back.
type Agent struct {
	Name            string            `json:"agent"`
	CLI             string            `json:"cli"`
	Branch          string            `json:"branch"`
	WorktreePath    string            `json:"worktree_path"`
	TurnSession     string            `json:"turn_session"`
	Parent          string            `json:"parent"`         // agent that started this one, "" for none
	BranchCreated   bool              `json:"branch_created"` // whether paw made the branch
	PaneID          string            `json:"pane_id"`
	Command         []string          `json:"command"`
	Environment     map[string]string `json:"environment"`      // variables that the CLI needs to resume a conversation
	ConversationIDs []string          `json:"conversation_ids"` // ids of the CLI's conversations, newest last
	TranscriptPath  string            `json:"transcript_path"`
	Phase           Phase             `json:"phase"`
	Number          int               `json:"number,omitempty"`         // the digit that selects the agent at the desk; see Session.Number
	TurnHighWater   int               `json:"turn_high_water"`          // highest turn number ever used
	BaseCommit      string            `json:"base_commit"`              // commit that the agent's branch started from
	BaseOnTarget    bool              `json:"base_on_target,omitempty"` // whether BaseCommit was the tip of Session.Target
	CreatedAt       time.Time         `json:"created_at,omitzero"`      // UTC; zero if written by an older paw
	From            *Origin           `json:"from,omitempty"`           // what the agent started from besides BaseCommit, nil for nothing
	// Here says that the worktree is the user's: paw has not made it, and never removes it.
	Here bool `json:"here,omitempty"`
	// Headless says that the agent was made for turns without a terminal. The agent gets a pane
	// only when the session is recovered by name.
	Headless bool `json:"headless,omitempty"`

	Finished // embedded: JSON fields of the agent itself

	// Seen counts the finished turns that the user has looked at. The state looked at is kept by
	// a ref: that of the landing SeenLanded, or a ref of its own if SeenLanded is 0.
	Seen       Finished `json:"seen,omitzero"`
	SeenLanded int      `json:"seen_landed,omitempty"`
	// SeenCut is the number of the last cut turn that the user has marked as seen, 0 for none.
	SeenCut int `json:"seen_cut,omitempty"`

	Wait *Wait `json:"wait,omitempty"` // children that the agent waits for, nil for none
	Done *Done `json:"done,omitempty"` // the agent's statement that the work is done, nil for none
	// Told is the number of the agent's last turn that its parent was told of; -1 if the parent was
	// told that the agent exited before its first turn.
	Told  int    `json:"told,omitempty"`
	Ports *Ports `json:"ports,omitempty"` // ports of the agent, nil for none
	// Variables holds the project's variables for the agent, expanded when it was made.
	Variables map[string]string `json:"variables,omitempty"`
	// Pushed lists the commits that paw has pushed, or was about to push, to the agent's branch on
	// a remote; newest last.
	Pushed []string `json:"pushed,omitempty"`
	// PullRequest is the address of the pull request that paw pr has last asked for or found open.
	PullRequest string `json:"pull_request,omitempty"`
	// Merged is the commit of that pull request's branch with which the server has merged it, "" for not known.
	Merged string `json:"merged,omitempty"`
	// SetUpFailed says how the last run of the set-up command in the worktree failed, "" if it did
	// not.
	SetUpFailed string `json:"set_up_failed,omitempty"`
}

// Finished counts the turns that ended well, so that no command has to read all turn logs. Tags
// cannot be counted: a fetch can prune them, and anybody can make one.
type Finished struct {
	Turns int `json:"turns_finished,omitzero"`
	Last  int `json:"last_finished,omitzero"` // number of the last turn that ended well
}

// Add counts a turn. Numbers only grow, so a turn that was counted before changes nothing.
func (f *Finished) Add(number int) {
	if number > f.Last {
		f.Turns, f.Last = f.Turns+1, number
	}
}

// Origin names the turn of another agent that an agent started from; without an agent, it stands
// for the user's uncommitted files. The commit is in BaseCommit.
type Origin struct {
	Agent        string `json:"agent"`
	Turn         int    `json:"turn"`
	Snapshot     string `json:"snapshot,omitempty"`     // commit with the uncommitted files, "" for none
	Conversation string `json:"conversation,omitempty"` // conversation that the agent begins with a copy of, "" for none
	Within       bool   `json:"within,omitempty"`       // whether the turn was still running
	State        string `json:"state,omitempty"`        // the state in the other agent's chain, "" if unknown
}

// Start returns the commit of the state that the agent began with: with uncommitted files it took
// along, else its base.
func (a *Agent) Start() string {
	if a.From != nil && a.From.Snapshot != "" {
		return a.From.Snapshot
	}
	return a.BaseCommit
}

// Handed returns the commit of the user's uncommitted files that the agent began with, "" for none.
func (a *Agent) Handed() string {
	if a.From != nil && a.From.Agent == "" {
		return a.From.Snapshot
	}
	return ""
}

// Base returns the commit that the agent's own work is compared with.
func (a *Agent) Base() string { return cmp.Or(a.Handed(), a.BaseCommit) }

// Enlist appends agents to the session and numbers them. Numbers up to 9 are used once in the life
// of a session, so that a key at the desk never comes to mean another agent; after that, the lowest
// free number is used.
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

// GiveBackNumber frees the number of an agent that never started, unless a later agent has a higher
// one.
func (s *Session) GiveBackNumber(name string) {
	if a := s.Agent(name); a != nil && a.Number != 0 && a.Number == s.LastNumber {
		s.LastNumber--
	}
}

// maxDigit is the highest number that one key can select.
const maxDigit = 9

// Number returns the number of the agent at index i; agents of an older paw are numbered by
// position.
func (s *Session) Number(i int) int {
	if s.Agents[i].Number != 0 {
		return s.Agents[i].Number
	}
	return i + 1
}

// Agent returns a pointer to the agent of that name, or nil.
func (s *Session) Agent(name string) *Agent {
	for i := range s.Agents {
		if s.Agents[i].Name == name {
			return &s.Agents[i]
		}
	}
	return nil
}

// AddConversation makes id the newest conversation. Ids are never removed: a known one moves to the
// end. An empty one is ignored.
func (a *Agent) AddConversation(id string) {
	if id == "" {
		return
	}
	others := slices.Clone(a.ConversationIDs) // Cloned, since copies of the agent share the slice.
	others = slices.DeleteFunc(others, func(known string) bool { return known == id })
	a.ConversationIDs = append(others, id)
}

// Conversation returns the id of the newest conversation, "" if none is known.
func (a Agent) Conversation() string {
	if len(a.ConversationIDs) == 0 {
		return ""
	}
	return a.ConversationIDs[len(a.ConversationIDs)-1]
}

// A far session runs on another machine (a host). The session's record here is named HOST:SESSION,
// and holds what the host last said of the agents, and what of their work has landed here. Only
// commands that land work read such a record; Load and List do not.

// farDir is the folder of far sessions' records, inside the folder of the others. An older paw
// ignores folders.
const farDir = "hosts"

// FarName returns the name of the record of a host's session.
func FarName(host, name string) string { return host + ":" + name }

// FarTurnSession returns the name of a host's turn session in refs of this machine: the host writes
// no other refs here.
func FarTurnSession(host, turnSession string) string { return "@" + host + "/" + turnSession }

// TurnSessionOf returns the default name of an agent's turn session. An agent HOST:SESSION/AGENT
// belongs to a host.
func (s *Session) TurnSessionOf(agent string) string {
	if host, name, far := strings.Cut(agent, ":"); far {
		return FarTurnSession(host, strings.Replace(name, "/", "_", 1))
	}
	if s.Host == "" {
		return s.Name + "_" + agent
	}
	return FarTurnSession(s.Host, strings.TrimPrefix(s.Name, s.Host+":")+"_"+agent)
}

// PlaceName returns the session's name for folders and refs, which may hold no colon.
func (s *Session) PlaceName() string {
	if s.Host == "" {
		return s.Name
	}
	return "@" + strings.ReplaceAll(s.Name, ":", "_")
}

// hostFault returns an error text when a record's host is not the one in its name, else "".
func hostFault(s *Session) string {
	if host, _, far := strings.Cut(s.Name, ":"); far != (s.Host != "") || far && host != s.Host {
		return "not the host of its name"
	}
	return ""
}

// turnSessionFault returns what is wrong with the name of a turn session, "" for a valid one. host
// is "" for a session of this machine.
func turnSessionFault(host, turnSession string) string {
	if host != "" {
		own, ok := strings.CutPrefix(turnSession, FarTurnSession(host, ""))
		if !ok {
			return "not one of the host"
		}
		turnSession = own
	}
	return nameFault(turnSession)
}
