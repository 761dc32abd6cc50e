package session

import (
	"fmt"
	"os"
	"time"
)

// Process identifies a process more exactly than its PID: a later process with the same PID, before
// or after a reboot, has another start time or boot. The time of day plays no part, since clocks
// can be set.
type Process struct {
	PID       int
	StartTime uint64 // clock ticks since boot on Linux, microseconds since 1970 on macOS
	BootID    string
}

// FindProcess identifies the running process with that PID.
func FindProcess(pid int) (Process, error) {
	facts, err := inspectProcess(pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return Process{PID: pid, StartTime: facts.started, BootID: BootID()}, nil
}

// StartedAt returns when the process with that PID was started.
func StartedAt(pid int) (time.Time, error) {
	facts, err := inspectProcess(pid)
	return startedAt(facts.started), err
}

// IgnoresHangUp reports whether a process ignores SIGHUP. A handler for the signal does not count.
func IgnoresHangUp(pid int) bool { return pid > 0 && ignoresHangUp(pid) }

// Alive reports whether this process still runs: same boot, same start time, no zombie. A process
// lives until its last thread has ended, since it keeps its locks until then.
func (p Process) Alive() bool {
	if p.PID <= 0 || p.BootID != BootID() {
		return false
	}
	facts, err := inspectProcess(p.PID)
	return err == nil && !facts.dead && facts.started == p.StartTime
}

// Holder is the process that holds an agent's lock, identified like a Process.
type Holder struct {
	PID        int       `json:"pid"`
	StartTime  uint64    `json:"start_time"` // clock ticks since boot on Linux, microseconds since 1970 on macOS
	BootID     string    `json:"boot_id"`
	Generation int       `json:"generation"`
	Session    string    `json:"session"`
	Agent      string    `json:"agent"`
	At         time.Time `json:"at"`                 // when the lock was taken, UTC
	Headless   bool      `json:"headless,omitempty"` // the holder is a paw that runs a turn without a terminal
	Prompted   bool      `json:"prompted,omitempty"` // the CLI gets a first prompt from paw
	SetUp      string    `json:"set_up,omitempty"`   // what the holder does in the worktree before it becomes the CLI, "" for nothing
	Hook       string    `json:"hook,omitempty"`     // paw that the CLI's hooks run
	Reports    int       `json:"reports,omitempty"`  // form of what a program of paw in the CLI reports to it
	// CLI and CLIStart identify the CLI of a headless turn, once it runs.
	CLI      int    `json:"cli,omitempty"`
	CLIStart uint64 `json:"cli_start,omitempty"`
}

// cli returns the process that leads the launch's terminal session: the holder, which became the
// CLI, or the CLI of a headless turn.
func (h Holder) cli() Holder {
	if h.Headless {
		h.PID, h.StartTime = h.CLI, h.CLIStart
	}
	return h
}

// ThisProcess identifies the calling process, also after an exec. The caller fills in Session,
// Agent and Generation.
func ThisProcess() (Holder, error) {
	p, err := FindProcess(os.Getpid())
	return Holder{PID: p.PID, StartTime: p.StartTime, BootID: p.BootID, At: time.Now().UTC().Round(0)}, err
}

// Alive reports whether the holder still runs.
func (h Holder) Alive() bool {
	return Process{PID: h.PID, StartTime: h.StartTime, BootID: h.BootID}.Alive()
}

// mark returns the launch's PAW_LAUNCH entry as it stands in /proc/PID/environ.
func (h Holder) mark() []byte {
	return fmt.Appendf(nil, "\x00PAW_LAUNCH=%s/%s/%d\x00", h.Session, h.Agent, h.Generation)
}

// processFacts holds what the kernel says about a PID.
type processFacts struct {
	started uint64
	dead    bool // a zombie: the PID exists, but the program has ended
}
