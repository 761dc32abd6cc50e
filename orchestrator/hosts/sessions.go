package hosts

import (
	"bytes"
	"encoding/json"
	"time"

	"paw/config/display"
)

// Session is a session on a host, with the fields of docs/json.md, safe for a terminal.
type Session struct {
	Name     string
	RepoPath string
	Status   string
	Reason   string
	Agents   []Agent
}

// Agent is an agent on a host.
type Agent struct {
	Name, CLI, Branch, Head, WorktreePath, State, Reason, Parent string

	PID            int // process of the CLI, 0 when it does not run
	Since          *time.Time
	TurnsCompleted int
	CurrentTurn    int
	ToReview       int
	CutTurn        int
}

// knownVersion is the version of paw status --json that this program knows. From higher versions it
// reads only names and states.
const knownVersion = 1

// text is a JSON string that may be null or missing, made safe for a terminal.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil || s == nil {
		return nil //nolint:nilerr // what is no string is not said
	}
	*t = text(display.OneLine(*s))
	return nil
}

// number is a JSON number that may be null, missing or of another type.
type number int

func (n *number) UnmarshalJSON(data []byte) error {
	var i int
	if json.Unmarshal(data, &i) == nil {
		*n = number(i)
	}
	return nil
}

// statusAnswer has the fields that are read from an answer; unknown ones are ignored, missing ones
// are empty.
type statusAnswer struct {
	Version  number `json:"version"`
	Sessions []struct {
		Name     text `json:"name"`
		RepoPath text `json:"repo_path"`
		Status   text `json:"status"`
		Reason   text `json:"reason"`
		Agents   []struct {
			Name           text   `json:"name"`
			CLI            text   `json:"cli"`
			Branch         text   `json:"branch"`
			HeadBranch     text   `json:"head_branch"`
			WorktreePath   text   `json:"worktree_path"`
			State          text   `json:"state"`
			Since          text   `json:"state_since"`
			Reason         text   `json:"reason"`
			Parent         text   `json:"parent"`
			PID            number `json:"pid"`
			TurnsCompleted number `json:"turns_completed"`
			CurrentTurn    number `json:"current_turn"`
			ToReview       number `json:"to_review"`
			CutTurn        number `json:"cut_turn"`
		} `json:"agents"`
	} `json:"sessions"`
}

// Sessions parses the answer.
func (a Answer) Sessions() []Session {
	var said statusAnswer
	if json.Unmarshal(a.Status, &said) != nil {
		return nil
	}
	var sessions []Session
	for _, s := range said.Sessions {
		one := Session{Name: string(s.Name), Status: string(s.Status)}
		if said.Version <= knownVersion {
			one.RepoPath, one.Reason = string(s.RepoPath), string(s.Reason)
		}
		for _, g := range s.Agents {
			agent := Agent{Name: string(g.Name), State: string(g.State)}
			if said.Version <= knownVersion {
				agent.CLI, agent.Branch, agent.Head, agent.WorktreePath = string(g.CLI), string(g.Branch), string(g.HeadBranch), string(g.WorktreePath)
				agent.Reason, agent.Parent = string(g.Reason), string(g.Parent)
				agent.PID = int(g.PID)
				agent.TurnsCompleted, agent.CurrentTurn, agent.ToReview = int(g.TurnsCompleted), int(g.CurrentTurn), int(g.ToReview)
				agent.CutTurn = int(g.CutTurn)
				if since, err := time.Parse(time.RFC3339, string(g.Since)); err == nil {
					agent.Since = &since
				}
			}
			one.Agents = append(one.Agents, agent)
		}
		sessions = append(sessions, one)
	}
	return sessions
}

// Objects returns the sessions of an answer as received, with the host's name added to them and to
// their agents.
func (a Answer) Objects() []any {
	var said struct {
		Sessions []map[string]any `json:"sessions"`
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Status))
	decoder.UseNumber()
	if decoder.Decode(&said) != nil {
		return nil
	}
	var objects []any
	for _, s := range said.Sessions {
		s["host"] = a.Host
		agents, _ := s["agents"].([]any)
		for _, agent := range agents {
			if object, ok := agent.(map[string]any); ok {
				object["host"] = a.Host
			}
		}
		objects = append(objects, s)
	}
	return objects
}
