package session

import (
	"strings"
)

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
