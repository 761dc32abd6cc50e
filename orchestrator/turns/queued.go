package turns

import (
	"os"
	"path/filepath"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
)

// SomethingQueued marks that a prompt waits behind a turn, for CLIs that do not report when they begin with it: then
// their hooks report tools, too.
func SomethingQueued(h *app.App, sessionName, agentName string) {
	_ = os.WriteFile(QueuedMark(h, sessionName, agentName), nil, 0o600)
}

// NothingQueued takes the mark of SomethingQueued away.
func NothingQueued(h *app.App, sessionName, agentName string) {
	_ = os.Remove(QueuedMark(h, sessionName, agentName))
}

// QueuedMark is the file that is there while a prompt waits behind a turn.
func QueuedMark(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), cli.QueuedMark)
}
