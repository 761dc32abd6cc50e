package orchestrator

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// hookFailure is one line of the log of hooks that failed.
type hookFailure struct {
	At     time.Time `json:"at"`
	Launch string    `json:"launch"`
	CLI    string    `json:"cli"`
	Event  string    `json:"event"`
	Error  string    `json:"error"`
}

func (p *Paw) hookLog() string { return filepath.Join(p.Paths.StateDir, "hooks.log") }

// maxHookLog bounds the log: a fuller one becomes hooks.log.old, in the place of the one before.
const maxHookLog = 1 << 20

// logHook notes a hook that failed; nobody could be told at the time.
func (p *Paw) logHook(cliName, event string, cause error) {
	line, err := json.Marshal(hookFailure{At: p.Now().UTC(), Launch: p.getenv("PAW_LAUNCH"), CLI: cliName, Event: event, Error: cause.Error()})
	if err != nil {
		return
	}
	if info, err := os.Lstat(p.hookLog()); err == nil && info.Size() > maxHookLog {
		_ = os.Rename(p.hookLog(), p.hookLog()+".old")
	}
	f, err := os.OpenFile(p.hookLog(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// hookFailures counts the hooks that failed, as far as the log has them, and
// returns the last one.
func (p *Paw) hookFailures() (count int, last hookFailure) {
	for _, path := range []string{p.hookLog() + ".old", p.hookLog()} {
		content, _ := os.ReadFile(path)
		for line := range bytes.Lines(content) {
			var one hookFailure
			if json.Unmarshal(line, &one) == nil {
				count, last = count+1, one
			}
		}
	}
	return count, last
}
