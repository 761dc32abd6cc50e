package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// HookFailure is one line of the log of hooks that failed.
type HookFailure struct {
	At     time.Time `json:"at"`
	Launch string    `json:"launch"`
	CLI    string    `json:"cli"`
	Event  string    `json:"event"`
	Error  string    `json:"error"`
}

// HookLog is the file that hooks which failed are noted in.
func (h *App) HookLog() string { return filepath.Join(h.Paths.StateDir, "hooks.log") }

// maxHookLog bounds the log: a fuller one becomes hooks.log.old, in the place of the one before.
const maxHookLog = 1 << 20

// LogHook notes a hook that failed; nobody could be told at the time.
func (h *App) LogHook(cliName, event string, cause error) {
	line, err := json.Marshal(HookFailure{At: h.Now().UTC(), Launch: h.Getenv("PAW_LAUNCH"), CLI: cliName, Event: event, Error: cause.Error()})
	if err != nil {
		return
	}
	if info, err := os.Lstat(h.HookLog()); err == nil && info.Size() > maxHookLog {
		_ = os.Rename(h.HookLog(), h.HookLog()+".old")
	}
	f, err := os.OpenFile(h.HookLog(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// HookFailures counts the hooks that failed, as far as the log has them, and returns the last one. Those of a session that is gone count
// no longer.
func (h *App) HookFailures() (count int, last HookFailure) {
	for _, path := range []string{h.HookLog() + ".old", h.HookLog()} {
		content, _ := os.ReadFile(path)
		for line := range bytes.Lines(content) {
			var one HookFailure
			if json.Unmarshal(line, &one) == nil && h.concerns(one) {
				count, last = count+1, one
			}
		}
	}
	return count, last
}

// concerns reports whether a hook that failed may be of a session that is there; a later one of the same name is another.
func (h *App) concerns(one HookFailure) bool {
	name, _, launched := strings.Cut(one.Launch, "/")
	if !launched {
		return true // a command of the user noted it
	}
	s, err := h.Store.Load(name)
	return err != nil || s != nil && !one.At.Before(s.CreatedAt)
}
