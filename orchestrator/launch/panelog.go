package launch

import (
	"os"
	"path/filepath"

	"paw/orchestrator/app"
)

// keptPaneLog is how long the log of a pane may be, in bytes, before the next launch begins a new one.
const keptPaneLog = 8 << 20

// PaneLog is the file that has what an agent's CLI wrote to its pane; beside it, with the end .old, is what came before.
func PaneLog(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "pane.log")
}

// openPaneLog makes the log that a pane is about to be written to, readable for its user alone, and returns its path.
func openPaneLog(h *app.App, sessionName, agentName string) (string, error) {
	path := PaneLog(h, sessionName, agentName)
	if info, err := os.Lstat(path); err == nil && info.Size() > keptPaneLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	return path, f.Close()
}
