package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/orchestrator/cli"
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
	Cwd             string `json:"cwd"`
	Kind            string `json:"kind"`        // interactive or bg
	JobID           string `json:"jobId"`       // id of a bg entry's background job
	ParkedJobID     string `json:"parkedJobId"` // JobID of the bg to which the conversation of this interactive entry was moved
	Spare           bool   `json:"spare"`       // a bg that claude keeps for a future task
}

// registry returns all entries, also those of dead processes.
func registry(s cli.Spec) []registryEntry {
	folder := filepath.Join(cli.Folder(s.Env, "CLAUDE_CONFIG_DIR", ".claude"), "sessions")
	return cli.Once(s.Look, folder, func() (all []registryEntry) {
		files, _ := filepath.Glob(filepath.Join(cli.GlobQuote(folder), "*.json"))
		for _, file := range files {
			if entry, err := readEntry(file); err == nil {
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
	for _, entry := range all {
		if entry.SessionID == s.ConversationID && entry.Status != "" && entry.StatusUpdatedAt >= newest.StatusUpdatedAt && entry.alive() {
			newest = entry
		}
	}
	if i := slices.IndexFunc(all, func(e registryEntry) bool { return e.parkedOf(newest) }); i >= 0 {
		newest = all[i]
	}
	return newest, newest.PID != 0
}

func (e registryEntry) since() time.Time {
	if e.StatusUpdatedAt == 0 {
		return time.Time{}
	}
	return time.UnixMilli(e.StatusUpdatedAt)
}

// within reports whether the process works in the agent's worktree or below it. Its directory changes with a `cd`
// of the model and when the model enters another worktree. No hook reports the latter; CwdChanged
// is called for a `cd`, also for one that claude takes back.
func (e registryEntry) within(s cli.Spec) bool {
	at, folder := s.Resolved(e.Cwd), s.Resolved(s.Worktree)
	return e.Cwd == "" || at == folder || strings.HasPrefix(at, folder+string(filepath.Separator))
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
	if e.PID <= 0 || errors.Is(unix.Kill(e.PID, 0), unix.ESRCH) {
		return false
	}
	stat, err := disk.ReadFile(filepath.Join("/proc", strconv.Itoa(e.PID), "stat"))
	if err != nil || e.ProcStart == "" {
		return true
	}
	// Field 22 is the start time; field 2, the name in parentheses, may contain spaces.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(fields) < 20 || fields[19] == e.ProcStart
}

// entries caches the registry by file name, for commands that look again and again.
var entries sync.Map // string to entryRead

type entryRead struct {
	registryEntry
	at   time.Time // modification time of the file
	size int64
}

// fileSettled is how long a file must be unchanged before its time and size are trusted to reveal a
// later change: file systems count time in ticks.
const fileSettled = time.Second

// readEntry reads a file of the registry, or returns the cached entry of an unchanged one.
func readEntry(file string) (registryEntry, error) {
	info, err := os.Stat(file)
	if err != nil {
		return registryEntry{}, err
	}
	if known, ok := entries.Load(file); ok {
		if read := known.(entryRead); read.at.Equal(info.ModTime()) && read.size == info.Size() {
			return read.registryEntry, nil
		}
	}
	read := entryRead{at: info.ModTime(), size: info.Size()}
	content, err := disk.ReadFile(file)
	if err != nil {
		return registryEntry{}, err
	}
	if err := json.Unmarshal(content, &read.registryEntry); err != nil {
		return registryEntry{}, err
	}
	if time.Since(read.at) > fileSettled {
		entries.Store(file, read)
	}
	return read.registryEntry, nil
}
