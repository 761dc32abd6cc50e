package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/session"
)

// HookFailure is one line of the log of failed hooks.
type HookFailure struct {
	At     time.Time `json:"at"`
	Launch string    `json:"launch"`
	CLI    string    `json:"cli"`
	Event  string    `json:"event"`
	Error  string    `json:"error"`
}

// HookLog is the log of failed hooks.
type HookLog struct {
	Path   string
	launch string // of the agent that runs the hook, "" for none
	store  session.Store
	now    func() time.Time
}

// HookLog returns the log of failed hooks.
func (h *App) HookLog() HookLog {
	return HookLog{filepath.Join(h.Paths.StateDir, "hooks.log"), h.Getenv("PAW_LAUNCH"), h.Store, h.Now}
}

// maxHookLog is the size in bytes at which the log becomes hooks.log.old, replacing the one before.
const maxHookLog = 1 << 20

// Add logs a failed hook; a hook has no way to tell the user.
func (l HookLog) Add(cliName, event string, cause error) {
	line, err := json.Marshal(HookFailure{At: l.now().UTC(), Launch: l.launch, CLI: cliName, Event: event, Error: cause.Error()})
	if err != nil {
		return
	}
	if info, err := os.Lstat(l.Path); err == nil && info.Size() > maxHookLog {
		_ = os.Rename(l.Path, l.Path+".old")
	}
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// Failures counts the logged failures and returns the last one. Those of sessions that do not
// exist any more are skipped.
func (l HookLog) Failures() (count int, last HookFailure) {
	for _, path := range []string{l.Path + ".old", l.Path} {
		content, _ := os.ReadFile(path)
		for line := range bytes.Lines(content) {
			var one HookFailure
			if json.Unmarshal(line, &one) == nil && l.concerns(one) {
				count, last = count+1, one
			}
		}
	}
	return count, last
}

// concerns reports whether a failed hook may belong to an existing session: one that was created
// later under the same name is another.
func (l HookLog) concerns(one HookFailure) bool {
	name, _, launched := strings.Cut(one.Launch, "/")
	if !launched {
		return true // logged by a command of the user
	}
	s, err := l.store.Load(name)
	return err != nil || s != nil && !one.At.Before(s.CreatedAt)
}
