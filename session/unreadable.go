package session

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
)

// Unreadable is a record that cannot be understood. What it says is not known: nobody may act on it.
type Unreadable struct {
	Name   string // from the file's name
	Err    error  // a *CorruptError or a *VersionError
	Socket string // of its tmux server as far as the text tells, "" for the default one
	text   []byte
}

// UnreadableRecords are the records that Load refuses.
func (st Store) UnreadableRecords() []Unreadable {
	var found []Unreadable
	entries, _ := os.ReadDir(st.Dir)
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord || !entry.Type().IsRegular() {
			continue
		}
		if one := st.Unreadable(name); one != nil {
			found = append(found, *one)
		}
	}
	return found
}

// Unreadable is the record of a session that Load refuses, nil for one that it reads and for none.
func (st Store) Unreadable(name string) *Unreadable {
	path, err := st.path(name)
	if err != nil {
		return nil
	}
	text, err := readRegularInto(path, nil)
	if err != nil {
		return nil
	}
	if _, err = decode(name, path, text); err == nil || !IsUnreadable(err) {
		return nil
	}
	socket, _ := socketOf(text)
	return &Unreadable{Name: name, Err: err, Socket: socket, text: text}
}

// Names reports whether the text of the record has one of these directories as a whole.
func (u Unreadable) Names(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		text, err := encodeText(dir)
		return err == nil && dir != "" && bytes.Contains(u.text, text)
	})
}

// Placed reports whether the text of the record still says of which repository the session is.
func (u Unreadable) Placed() bool {
	_, rest, found := bytes.Cut(u.text, []byte(`"repo_path":`))
	var path string
	err := json.NewDecoder(bytes.NewReader(rest)).Decode(&path)
	return found && err == nil && path != ""
}
