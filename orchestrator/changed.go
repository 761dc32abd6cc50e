package orchestrator

import (
	"os"
	"path/filepath"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session/turn"
)

// fileStamp has the time and size of a file, which change when the file is written.
type fileStamp struct {
	at   time.Time
	size int64
}

// notThere is the stamp of a file that was missing at the look before, and may have been written during that look.
var notThere = fileStamp{size: -1}

func stampOf(path string) fileStamp {
	info, err := os.Lstat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// Changed reports whether paw has written something about the shown sessions since the last look: records, turns, reports
// of hooks. What nobody writes down, such as a pane that ends, only a look shows. It starts no process.
func (w *Watch) Changed() bool {
	if w.stamps == nil { // from now on looks keep them
		w.stamps = map[string]fileStamp{}
		return true
	}
	for path, was := range w.stamps {
		if stampOf(path) != was {
			return true
		}
	}
	return false
}

// before returns the stamps of now, to be taken before anything is read: nil as long as Changed was never asked.
func (w *Watch) before() map[string]fileStamp {
	if w.stamps == nil {
		return nil
	}
	now := make(map[string]fileStamp, len(w.stamps))
	for path := range w.stamps {
		now[path] = stampOf(path)
	}
	return now
}

// follow keeps the stamps that the files of a look had before the look.
func (w *Watch) follow(before map[string]fileStamp, all []*observe.Facts) {
	if before == nil {
		return
	}
	w.stamps = make(map[string]fileStamp, len(before))
	for _, path := range writtenTo(w.home, all) {
		was, known := before[path]
		if !known {
			was = notThere
		}
		w.stamps[path] = was
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
