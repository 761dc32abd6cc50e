package claude

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/turn"
)

// background is the kind of registry entries of processes that claude's daemon runs without a
// terminal. A key or `/background` moves a conversation to the daemon, under another id, unless the
// settings switch the agent view off.
const background = "bg"

// registryEntry is a file sessions/PID.json of claude's registry of processes. claude deletes it at
// a regular exit.
type registryEntry struct {
	PID             int    `json:"pid"`
	SessionID       string `json:"sessionId"`
	Status          string `json:"status"` // idle, busy, waiting, or shell (idle with a background shell)
	WaitingFor      string `json:"waitingFor"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt"` // Unix time in milliseconds
	ProcStart       string `json:"procStart"`       // start time of the process in clock ticks on Linux, see proc_pid_stat(5)
	Cwd             string `json:"cwd"`             // changes with a `cd` of the model, and when the model enters another worktree
	Kind            string `json:"kind"`            // interactive or bg
	JobID           string `json:"jobId"`           // id of a bg entry's background job
	ParkedJobID     string `json:"parkedJobId"`     // JobID of the bg to which the conversation of this interactive entry was moved
	Spare           bool   `json:"spare"`           // a bg that claude keeps for a future task
}

// registry returns all entries, also those of dead processes.
func registry(s cli.Spec) []registryEntry {
	folder := filepath.Join(cli.Folder(s.Env, "CLAUDE_CONFIG_DIR", ".claude"), "sessions")
	return cli.Once(s.Look, folder, func() (all []registryEntry) {
		files, _ := filepath.Glob(filepath.Join(cli.GlobQuote(folder), "*.json"))
		for _, file := range files {
			var entry registryEntry
			if content, err := disk.ReadFile(file); err == nil && json.Unmarshal(content, &entry) == nil {
				all = append(all, entry)
			}
		}
		return all
	})
}

// process returns the newest entry of a living process that has the conversation open.
func process(s cli.Spec) (registryEntry, bool) {
	var newest registryEntry
	all := registry(s)
	for i := range all {
		entry := &all[i]
		if entry.SessionID == s.ConversationID && entry.Status != "" && entry.StatusUpdatedAt >= newest.StatusUpdatedAt && entry.alive() {
			newest = *entry
		}
	}
	if newest.ParkedJobID == "" {
		return newest, newest.PID != 0
	}
	if i := slices.IndexFunc(all, func(e registryEntry) bool { return e.parkedOf(newest) }); i >= 0 {
		newest = all[i]
	}
	return newest, newest.PID != 0
}

// HeldBy looks for a claude in a terminal: one of its daemon is of Away.
func (driver) HeldBy(s cli.Spec) int {
	if entry, ok := process(s); ok && entry.Kind != background {
		return entry.PID
	}
	return 0
}

func (e registryEntry) since() time.Time {
	if e.StatusUpdatedAt == 0 {
		return time.Time{}
	}
	return time.UnixMilli(e.StatusUpdatedAt)
}

// before reports whether the status is older than a moment recorded by paw: claude cuts its times
// to milliseconds.
func (e registryEntry) before(moment time.Time) bool {
	return e.since().Before(moment.Truncate(time.Millisecond))
}

// parkedOf reports whether e is the living background process to which the conversation of pane was
// moved.
func (e registryEntry) parkedOf(pane registryEntry) bool {
	return pane.ParkedJobID != "" && e.JobID == pane.ParkedJobID && e.Kind == background && e.alive()
}

// alive reports whether the process that wrote the entry still runs; another process with the same
// pid does not count.
func (e registryEntry) alive() bool {
	if e.PID <= 0 {
		return false
	}
	process, err := session.FindProcess(e.PID)
	if err != nil || e.ProcStart == "" || runtime.GOOS != "linux" { // processes of others can be hidden
		return !errors.Is(unix.Kill(e.PID, 0), unix.ESRCH)
	}
	return strconv.FormatUint(process.StartTime, 10) == e.ProcStart
}

// settledAfter is how long claude must have been idle, without an end in the transcript, until the
// turn counts as over: between two queued prompts the registry says idle for a moment.
const settledAfter = 2 * time.Second

// waits puts the waitingFor of a registry entry into words.
func waits(waitingFor string) string {
	switch waitingFor {
	case "permission prompt":
		return "asks for permission"
	case "dialog open":
		return "a menu is open"
	}
	return waitingFor
}

// Observe reads claude's registry of running processes, which is the one prompt sign of an Esc or
// of a denied permission, and the transcript for how a turn ended and what began after it. An Esc
// before the first word of an answer leaves no trace in the transcript: then an idle claude is the
// sign.
func (c driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	entry, ok := process(s)
	settled := time.Since(entry.since()) >= settledAfter
	told, err := c.told(ctx, s, last, ok && !settled)
	if err != nil {
		return cli.Observed{}, err
	}
	seen := cli.Observed{Known: ok, Live: ok, At: entry.since(), Source: session.SourceRecord, Ended: told.ended, Later: told.later, Joined: told.joined}
	if !ok {
		seen.Source = ""
	}
	seen.Windows = c.Windows(s)
	if entry.Kind == background {
		seen.Away = entry.PID
	}
	seen.Folder = entry.Cwd
	switch {
	case entry.Status == "busy", ok && !settled && len(told.queue) > 0, ok && told.ended == nil && reports(entry, last): // idle for a moment between two turns
		seen.Busy = true
		return seen, nil
	case entry.Status == "waiting" && told.ended == nil: // else a menu is open since an Esc, which is told once the turn is closed
		seen.Waiting, seen.Vague, seen.Question = true, true, waits(entry.WaitingFor)
		if records.IsOpen(last) && last.Waiting && last.Question != "" {
			seen.Vague, seen.Question = questions.Paged(last.Question), last.Question
		}
		return seen, nil
	case !records.IsOpen(last):
		return seen, nil
	case ok && entry.before(last.StartedAt):
		return cli.Observed{}, nil // the entry is older than the turn and says nothing about it
	case told.ended != nil:
		seen.Known, seen.At, seen.Source = true, told.ended.At, session.SourceTranscript
		return seen, nil
	case !ok || !settled:
		return cli.Observed{Later: told.later, Joined: told.joined}, nil
	}
	seen.Ended = &turn.Event{
		Kind: turn.KindInterrupt, Conversation: s.ConversationID, TurnID: last.TurnID, Message: "claude is idle without an answer",
	}
	if last.Held != nil && !entry.before(last.Held.At) {
		seen.Ended.Kind, seen.Ended.Message = turn.KindEnd, last.Held.Message
	}
	return seen, nil
}

// told reads the transcript about the turn last and the turns after it; it returns nothing where
// there is no transcript.
func (c driver) told(ctx context.Context, s cli.Spec, last *turn.Record, waiting bool) (*toldTurns, error) {
	if last == nil || last.Conversation != "" && last.Conversation != s.ConversationID {
		return &toldTurns{}, nil
	}
	// A file with an answer in the worktree's own folder is the one that Conversation finds.
	if told, err := turns(ownTranscript(s), last, waiting); err == nil && told.used {
		return told, nil
	}
	found, err := c.Conversation(ctx, s)
	if err != nil || found.Transcript == "" {
		return &toldTurns{}, err
	}
	told, err := turns(found.Transcript, last, waiting)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return told, err
}
