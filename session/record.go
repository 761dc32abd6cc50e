package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"paw/config/disk"
)

// encode returns the record as indented JSON in a stable order, after checking that decode would
// accept it.
func encode(s *Session) ([]byte, error) {
	if reason := recordFault(s); reason != "" {
		return nil, fmt.Errorf("session %s: %s", s.Name, reason)
	}
	text, err := disk.JSON(withoutNull(*s), "  ")
	if err != nil {
		return nil, fmt.Errorf("session %s: created_at is out of range", s.Name)
	}
	return text, nil
}

// withoutNull replaces nil lists and maps by empty ones, so that the file has [] and {} and never
// null.
func withoutNull(s Session) Session {
	s.Agents = append([]Agent{}, s.Agents...)
	for i := range s.Agents {
		w := &s.Agents[i]
		w.Command = append([]string{}, w.Command...)
		w.ConversationIDs = append([]string{}, w.ConversationIDs...)
		if w.Environment == nil {
			w.Environment = map[string]string{}
		}
	}
	return s
}

// decode parses the record of a session; path is for the errors, *VersionError and *CorruptError.
// Unknown fields are ignored.
func decode(name, path string, data []byte) (*Session, error) {
	corrupt := func(reason string) error { return &CorruptError{Name: name, Path: path, Reason: reason} }
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, corrupt("empty")
	}
	s := Session{Agents: make([]Agent, 0, bytes.Count(data, []byte("\"agent\":")))} // one allocation holds all agents
	fault := json.Unmarshal(data, &s)
	version := s.Version
	if fault != nil { // A newer record may have other types in other fields.
		var err error
		if version, err = versionIn(data); err != nil {
			return nil, corrupt(jsonFault(err))
		}
	}
	switch {
	case version < 1:
		return nil, corrupt("no version")
	case version > Version:
		return nil, &VersionError{Name: name, Path: path, Version: version}
	case fault != nil:
		return nil, corrupt(jsonFault(fault))
	}
	if s.Name != name {
		return nil, corrupt(fmt.Sprintf("it names session %q", s.Name))
	}
	if reason := recordFault(&s); reason != "" {
		return nil, corrupt(reason)
	}
	s.Version = Version
	s.CreatedAt = s.CreatedAt.UTC()
	emptyToNil(&s)
	return &s, nil
}

// versionIn returns the version in the text of a record, whatever else the text holds.
func versionIn(data []byte) (int, error) {
	var head struct {
		Version int `json:"version"`
	}
	err := json.Unmarshal(data, &head)
	return head.Version, err
}

// socketOf returns the tmux socket in a record, without parsing the fields after it.
func socketOf(data []byte) (socket string, ok bool) {
	record := json.NewDecoder(bytes.NewReader(data))
	if _, err := record.Token(); err != nil {
		return "", false
	}
	for record.More() {
		if key, err := record.Token(); err == nil && key == "tmux" {
			var t Tmux
			err = record.Decode(&t)
			return t.Socket, err == nil
		}
		var other json.RawMessage
		if record.Decode(&other) != nil {
			return "", false
		}
	}
	return "", false
}

// emptyToNil undoes withoutNull, so that a record loads as it was saved.
func emptyToNil(s *Session) {
	if len(s.Agents) == 0 {
		s.Agents = nil
	}
	for i := range s.Agents {
		w := &s.Agents[i]
		if len(w.Command) == 0 {
			w.Command = nil
		}
		if len(w.ConversationIDs) == 0 {
			w.ConversationIDs = nil
		}
		if len(w.Environment) == 0 {
			w.Environment = nil
		}
	}
}

// jsonFault describes a decoding error without the names of Go types.
func jsonFault(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("not JSON at byte %d: %s", syntax.Offset, syntax)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return fmt.Sprintf("unexpected %s in %s", kind.Value, kind.Field)
	}
	if errors.As(err, &kind) {
		return fmt.Sprintf("unexpected %s instead of a record", kind.Value)
	}
	return "created_at is not a time" // No other field has a decoder of its own.
}

// recordFault returns what makes a record unusable, "" for a valid one. Names and paths are checked
// since locks and worktrees are derived from them.
func recordFault(s *Session) string {
	if reason := recordNameFault(s.Name); reason != "" {
		return "session name: " + reason
	}
	if reason := hostFault(s); reason != "" {
		return "host: " + reason
	}
	if s.Status != StatusActive && s.Status != StatusStopped {
		return fmt.Sprintf("unknown status %q", s.Status)
	}
	if reason := pathFault(s.RepoPath); reason != "" {
		return "repo_path: " + reason
	}
	if reason := pathFault(s.GitCommonDir); reason != "" {
		return "git_common_dir: " + reason
	}
	if !utf8.ValidString(s.Target) {
		return "target: not UTF-8"
	}
	agents := map[string]bool{}
	for i := range s.Agents {
		w := &s.Agents[i]
		if reason := worktreeFault(s.Host, w); reason != "" {
			return fmt.Sprintf("agent %q: %s", w.Name, reason)
		}
		if agents[w.Name] {
			return fmt.Sprintf("agent %q: there twice", w.Name)
		}
		agents[w.Name] = true
	}
	if reason := portsFault(s.Checks.Ports); reason != "" {
		return "checks: " + reason
	}
	for i := range s.Landings {
		if reason := landingFault(s.Host, &s.Landings[i]); reason != "" {
			return fmt.Sprintf("landing %d: %s", s.Landings[i].ID, reason)
		}
	}
	return ""
}

func worktreeFault(host string, w *Agent) string {
	if reason := nameFault(w.Name); reason != "" {
		return "name: " + reason
	}
	if reason := pathFault(w.WorktreePath); reason != "" {
		return "worktree_path: " + reason
	}
	if reason := pathFault(w.TranscriptPath); reason != "" {
		return "transcript_path: " + reason
	}
	if w.TurnSession != "" && turnSessionFault(host, w.TurnSession) != "" {
		return "turn_session: " + turnSessionFault(host, w.TurnSession)
	}
	if w.Parent != "" && nameFault(w.Parent) != "" {
		return "parent: " + nameFault(w.Parent)
	}
	if reason := portsFault(w.Ports); reason != "" {
		return reason
	}
	phases := []Phase{"", PhaseCreating, PhaseLive, PhaseStopping, PhaseStopped, PhaseExited, PhaseRemoving, PhaseDiscarding, PhaseLeaving}
	if !slices.Contains(phases, w.Phase) {
		return fmt.Sprintf("unknown phase %q", w.Phase)
	}
	// JSON would silently replace bytes that are not UTF-8, and change the command of a resumed
	// CLI.
	if reason := textFault(slices.Concat([]string{w.Branch}, w.Command, w.ConversationIDs)...); reason != "" {
		return reason
	}
	for _, variables := range []map[string]string{w.Environment, w.Variables} {
		for key, text := range variables {
			if !utf8.ValidString(key) || !utf8.ValidString(text) {
				return fmt.Sprintf("environment %q: not UTF-8", key)
			}
		}
	}
	return ""
}

func portsFault(p *Ports) string {
	if p != nil && (p.First < 1 || p.Count < 1 || p.Last() > 65535) {
		return fmt.Sprintf("ports: %d from %d on", p.Count, p.First)
	}
	return ""
}

// Unreadable is a record that Load cannot read. No command may act on its session.
type Unreadable struct {
	Name   string // session name, from the file's name
	Err    error  // why Load failed: a *CorruptError or a *VersionError
	Socket string // tmux socket, if the text still tells it; "" for the default one
	text   []byte
}

// UnreadableRecords returns the records that Load cannot read. Given directories, it returns only
// those whose text contains one of them, or no repository at all.
func (st Store) UnreadableRecords(dirs ...string) []Unreadable {
	var found []Unreadable
	entries, _ := os.ReadDir(st.Dir)
	for _, name := range recordsAmong(entries) {
		if one := st.unreadable(name, dirs); one != nil {
			found = append(found, *one)
		}
	}
	return found
}

// Unreadable returns the record of a session if Load cannot read it, else nil.
func (st Store) Unreadable(name string) *Unreadable { return st.unreadable(name, nil) }

func (st Store) unreadable(name string, dirs []string) *Unreadable {
	path, err := st.path(name)
	if err != nil {
		return nil
	}
	text, err := disk.ReadRegular(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, disk.ErrNotRegular):
		return &Unreadable{Name: name, Err: notAFile(name, path)}
	case err != nil:
		return &Unreadable{Name: name, Err: fmt.Errorf("session %s: %w", name, err)}
	}
	one := Unreadable{Name: name, text: text}
	if len(dirs) > 0 && one.Placed() && !namesAny(text, dirs) {
		return nil
	}
	if _, one.Err = decode(name, path, text); !IsUnreadable(one.Err) {
		return nil
	}
	one.Socket, _ = socketOf(text)
	return &one
}

// namesAny reports whether a record's text contains one of these directories, in quotes.
func namesAny(text []byte, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		name, err := disk.JSON(dir, "") // with a newline
		return err == nil && dir != "" && bytes.Contains(text, bytes.TrimSpace(name))
	})
}

// Placed reports whether the record's text still names a repository.
func (u Unreadable) Placed() bool {
	_, rest, found := bytes.Cut(u.text, []byte(`"repo_path": "/`))
	return found && bytes.IndexByte(rest, '"') >= 0
}
