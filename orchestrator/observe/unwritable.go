package observe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"paw/orchestrator/app"
	"paw/session/turn"
)

// unwritten is what a hook notes that could not write a folder. Whoever looks may have more rights than the hook has.
type unwritten struct {
	Launch string    `json:"launch"`
	Folder string    `json:"folder"`
	At     time.Time `json:"at"`
}

// NoteUnwritable notes which folder a hook of a launch cannot write, where that can be noted, or takes such a note away.
func NoteUnwritable(h *app.App, sessionName, agentName, launch string) {
	path := unwrittenPath(h, sessionName, agentName)
	folder := unwritable(h, sessionName, agentName)
	if folder == "" {
		_ = os.Remove(path)
		return
	}
	if note, err := json.Marshal(unwritten{Launch: launch, Folder: folder, At: h.Now()}); err == nil {
		_ = os.WriteFile(path, note, 0o600)
	}
}

// hooksCannotWrite is the folder that the hooks of a launch cannot write, "" where none is known: one that whoever looks
// cannot write either, or one that a hook has noted and nothing was written down since. An agent that looks may have less
// rights than the hooks, in the sandbox of its CLI.
func hooksCannotWrite(h *app.App, sessionName, agentName, launch string, last *turn.Record) string {
	if h.Getenv("PAW_LAUNCH") == "" {
		if folder := unwritable(h, sessionName, agentName); folder != "" {
			return folder
		}
	}
	var note unwritten
	data, err := os.ReadFile(unwrittenPath(h, sessionName, agentName))
	if err != nil || json.Unmarshal(data, &note) != nil || note.Launch != launch {
		return ""
	}
	if last != nil && last.LastEventAt.After(note.At) {
		return ""
	}
	return note.Folder
}

// unwritable is the first of the folders that the hooks of an agent write which this process cannot write.
func unwritable(h *app.App, sessionName, agentName string) string {
	folder, _ := app.Unwritable(
		h.Paths.SessionsDir, h.Paths.LocksDir(), h.TurnDir(sessionName, agentName).Path, h.StateDir(sessionName, agentName),
	)
	return folder
}

func unwrittenPath(h *app.App, sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "unwritable")
}
