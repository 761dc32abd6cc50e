package session

import (
	"path/filepath"
	"strings"
)

// A far session runs on another machine. Its record here is named HOST:SESSION. It has what that machine said last of the agents, and
// what of their work has landed here. Only what lands work reads such a record: Load and List know none.

// farDir is the folder of the records of far sessions, in that of the others. An older paw passes folders over.
const farDir = "hosts"

// FarName returns the name of the record of a session of another machine.
func FarName(host, name string) string { return host + ":" + name }

// FarTurnSession returns the name of a turn session of another machine, as refs here have it: that machine writes no other refs here.
func FarTurnSession(host, turnSession string) string { return "@" + host + "/" + turnSession }

// TurnSessionOf returns the name that the turn session of an agent has where nothing else is recorded. An agent HOST:SESSION/AGENT is one of
// another machine.
func (s *Session) TurnSessionOf(agent string) string {
	if host, name, far := strings.Cut(agent, ":"); far {
		return FarTurnSession(host, strings.Replace(name, "/", "_", 1))
	}
	if s.Host == "" {
		return s.Name + "_" + agent
	}
	return FarTurnSession(s.Host, strings.TrimPrefix(s.Name, s.Host+":")+"_"+agent)
}

// PlaceName returns the name of a session for folders and refs, in which no colon may be.
func (s *Session) PlaceName() string {
	if s.Host == "" {
		return s.Name
	}
	return "@" + strings.ReplaceAll(s.Name, ":", "_")
}

// isFar reports whether a record of that name is one of a far session.
func isFar(name string) bool { return strings.Contains(name, ":") }

// recordNameFault says what is wrong with the name of a record, "" for a good one.
func recordNameFault(name string) string {
	host, own, far := strings.Cut(name, ":")
	if !far {
		return nameFault(name)
	}
	if host == "" || strings.Trim(host, nameLetters+"-") != "" || len(host) > MaxName {
		return "no name of a host"
	}
	return nameFault(own)
}

// hostFault says what is wrong with a record's host, "" for nothing.
func hostFault(s *Session) string {
	if host, _, far := strings.Cut(s.Name, ":"); far != (s.Host != "") || far && host != s.Host {
		return "not the host of its name"
	}
	return ""
}

// turnSessionFault says what is wrong with the turn session of an agent of a host, "" for one of this machine.
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

// validateRecordName checks the name of a record, of a far session or another.
func validateRecordName(name string) error {
	if !isFar(name) {
		return ValidateName("session", name)
	}
	if reason := recordNameFault(name); reason != "" {
		return &NameError{Kind: "session", Name: name, Reason: reason}
	}
	return nil
}

// LoadAny is Load that also knows far sessions.
func (st Store) LoadAny(name string) (*Session, error) {
	path, err := st.path(name)
	if err != nil {
		return nil, err
	}
	s, _, err := st.load(name, path)
	return s, err
}

// ListAll is List with the far sessions behind the others.
func (st Store) ListAll() ([]*Session, []error, error) {
	st.Early = nil
	sessions, unreadable, entries, err := st.list(st.Dir)
	for _, entry := range entries {
		if entry.Name() == farDir && entry.IsDir() {
			far, problems, _, farErr := st.list(filepath.Join(st.Dir, farDir))
			return append(sessions, far...), append(unreadable, problems...), farErr
		}
	}
	return sessions, unreadable, err
}
