package orchestrator

import (
	"os"
	"path/filepath"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session/turn"
)

// footprint is what tells without reading a file whether it was written since.
type footprint struct {
	at   time.Time
	size int64
}

// unlooked is the footprint of a file that was not there at the look before: it may have been written while that went on.
var unlooked = footprint{size: -1}

func footprintOf(path string) footprint {
	info, err := os.Lstat(path)
	if err != nil {
		return footprint{}
	}
	return footprint{info.ModTime(), info.Size()}
}

// Stirred reports whether paw has written something about the shown sessions since the last look: records, turns, reports
// of hooks. What nobody writes down, such as a pane that ends, only a look shows. It starts no process.
func (w *Watch) Stirred() bool {
	if w.footprints == nil { // from now on looks keep them
		w.footprints = map[string]footprint{}
		return true
	}
	for path, was := range w.footprints {
		if footprintOf(path) != was {
			return true
		}
	}
	return false
}

// before are the footprints of now, to be taken before anything is read. Without Stirred there are none.
func (w *Watch) before() map[string]footprint {
	if w.footprints == nil {
		return nil
	}
	now := make(map[string]footprint, len(w.footprints))
	for path := range w.footprints {
		now[path] = footprintOf(path)
	}
	return now
}

// follow keeps the footprints of what a look has read, as they were before it.
func (w *Watch) follow(before map[string]footprint, all []*observe.Facts) {
	if before == nil {
		return
	}
	w.footprints = make(map[string]footprint, len(before))
	for _, path := range writtenTo(w.home, all) {
		was, known := before[path]
		if !known {
			was = unlooked
		}
		w.footprints[path] = was
	}
}

// writtenTo are the files and folders that events of these sessions change.
func writtenTo(h *app.App, all []*observe.Facts) []string {
	paths := []string{h.Paths.SessionsDir} // a record is replaced, which changes its folder
	for _, f := range all {
		for _, a := range f.Agents {
			turns := h.TurnDir(f.Session.Name, a.Record.Name).Path
			paths = append(paths, turns)
			if a.Turns.Visible && a.Turns.HooksSeen.IsZero() {
				paths = append(paths, h.StateDir(f.Session.Name, a.Record.Name)) // where the first report leaves a mark
			}
			if last := a.Turns.Last; last != nil {
				paths = append(paths, filepath.Join(turns, turn.LogName(last.Number, last.Type)))
			}
		}
	}
	return paths
}
