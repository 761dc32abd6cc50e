package orchestrator

import (
	"context"
	"path/filepath"

	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session/turn"
)

// Watch observes sessions repeatedly, for commands that keep showing them. It keeps their agents as
// live sessions.
type Watch struct {
	home    *app.App
	options StatusOptions
	shown   map[string]*live.Registry

	followed map[string]int // by agent, the turn for which FollowUnseen has started a process

	stamps map[string]fileStamp // by path, of the files that the last look has read; nil until Changed is called
}

// NewWatch returns a Watch of the selected sessions. Close releases it.
func NewWatch(h *app.App, o StatusOptions) *Watch {
	return &Watch{home: h, options: o, shown: map[string]*live.Registry{}, followed: map[string]int{}}
}

// Look returns the states of sessions and agents now, as Status does.
func (w *Watch) Look(ctx context.Context) (statuses []observe.SessionStatus, problems []error, err error) {
	before := w.before()
	tags := newTagReader(w.home)
	all, problems, err := gather(ctx, w.home, w.options, tags.look)
	if err != nil {
		return nil, problems, err
	}
	w.follow(before, all)
	there := map[string]bool{}
	for _, f := range all {
		there[f.Session.Name] = true
	}
	for name, one := range w.shown {
		if !there[name] {
			unloadAll(one)
			delete(w.shown, name)
		}
	}
	for _, f := range all {
		one := w.shown[f.Session.Name]
		if one == nil {
			one = live.NewRegistry(live.Source{})
			w.shown[f.Session.Name] = one
		}
		st := observe.StatusWith(*f, one.Take(observe.LiveFacts(w.home, *f)))
		noteGone(&st)
		FollowUnseen(w.home, st, w.followed)
		tags.add(ctx, &st)
		statuses = append(statuses, st)
	}
	return statuses, problems, nil
}

// Close releases the live sessions of Look.
func (w *Watch) Close() {
	for name, one := range w.shown {
		unloadAll(one)
		delete(w.shown, name)
	}
}

// Status returns the states of sessions and agents. It writes nothing, starts one tmux client per
// socket and no git, and one more tmux client if the state of some agent only shows on its screen.
// Unreadable records come back as problems beside the sessions that can be read.
func Status(ctx context.Context, h *app.App, o StatusOptions) (statuses []observe.SessionStatus, problems []error, err error) {
	w := NewWatch(h, o)
	defer w.Close()
	return w.Look(ctx)
}

// unloadAll unloads the agents that are at rest and are shown in no terminal.
func unloadAll(agents *live.Registry) {
	for _, branch := range agents.Branches() {
		agents.Unload(branch)
	}
}

// fileStamp holds the time and size of a file, which change when the file is written.
type fileStamp struct {
	at   int64 // nanoseconds since 1970
	size int64
}

// notThere is the stamp of a file that was missing before a look and may have been written during
// it.
var notThere = fileStamp{size: -1}

func stampOf(path string) fileStamp {
	var info unix.Stat_t
	if unix.Lstat(path, &info) != nil {
		return fileStamp{}
	}
	return fileStamp{info.Mtim.Nano(), info.Size}
}

// Changed reports whether a file of the shown sessions has changed since the last look: records,
// turn logs, hook reports. Events that change no file, such as the end of a pane, only show in a
// look. It starts no process.
func (w *Watch) Changed() bool {
	if w.stamps == nil { // later looks keep stamps
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

// before returns the current stamps, to be taken before a look reads anything, or nil if Changed
// was never called.
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

// follow keeps, for the files that a look has read, their stamps from before the look.
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

// writtenTo returns the files and directories that events of the sessions change.
func writtenTo(h *app.App, all []*observe.Facts) []string {
	paths := []string{h.Paths.SessionsDir} // replacing a record changes its directory
	for _, f := range all {
		paths = append(paths, h.Queues().Folder(f.Session.Name))
		for _, a := range f.Agents {
			turns := h.TurnDir(f.Session.Name, a.Record.Name).Path
			paths = append(paths, turns)
			if a.Turns.Visible && a.Turns.HooksSeen.IsZero() {
				paths = append(paths, h.StateDir(f.Session.Name, a.Record.Name)) // where the first hook report leaves a mark
			}
			if last := a.Turns.Last; last != nil {
				paths = append(paths, filepath.Join(turns, turn.LogName(last.Number, last.Type)))
			}
		}
	}
	return paths
}
