package checks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/session"
)

// Running is a check that runs now.
type Running struct {
	Agent   string    `json:"agent"`
	What    string    `json:"what"`   // "landing" if the work lands when the checks pass, else "checks"
	Number  int       `json:"number"` // of the check, from 1
	Of      int       `json:"of"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"` // when the first check began
}

// RunningFile returns the file that says which check of a session runs. It is only valid while the
// session's check lock is held, because a killed paw leaves it.
func RunningFile(h *app.App, s *session.Session) string {
	return filepath.Join(h.StateDir(s.PlaceName(), Name), "running")
}

// RunningIn returns the check that runs in a session, false for none. It waits for nothing.
func RunningIn(h *app.App, s *session.Session) (r Running, runs bool) {
	text, err := disk.ReadFile(RunningFile(h, s))
	if err != nil || !h.Locks.CheckHeld(s.Name) {
		return r, false
	}
	return r, json.Unmarshal(text, &r) == nil
}

// tell writes that a check runs. Only the desk reads it: an error changes nothing.
func (c *Checker) tell(r Running) {
	if text, err := json.Marshal(r); err == nil && os.MkdirAll(c.stateDir(), 0o700) == nil {
		_ = os.WriteFile(RunningFile(c.App, c.Session), text, 0o600)
	}
}
