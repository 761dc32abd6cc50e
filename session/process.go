package session

import (
	"fmt"
	"os"
	"time"
)

// Process identifies a process so that it cannot be mistaken for another one that got the same pid later, before or after a reboot.
// The time of day is no part of it: a clock may be set.
type Process struct {
	PID       int
	StartTime uint64 // clock ticks since boot on Linux, microseconds since 1970 on macOS
	BootID    string
}

// FindProcess identifies the process that has a pid now.
func FindProcess(pid int) (Process, error) {
	facts, err := inspectProcess(pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return Process{PID: pid, StartTime: facts.started, BootID: BootID()}, nil
}

// StartedAt returns when the process that has a pid now was started.
func StartedAt(pid int) (time.Time, error) {
	facts, err := inspectProcess(pid)
	return startedAt(facts.started), err
}

// IgnoresHangUp reports whether a process goes on when its terminal hangs up. One that has a handler of its own does not say.
func IgnoresHangUp(pid int) bool { return pid > 0 && ignoresHangUp(pid) }

// Alive reports whether that very process still runs: same boot, same start time, and not a zombie. One is alive until its
// last thread has ended, because until then it has not let go of its locks.
func (p Process) Alive() bool {
	if p.PID <= 0 || p.BootID != BootID() {
		return false
	}
	facts, err := inspectProcess(p.PID)
	return err == nil && !facts.dead && facts.started == p.StartTime
}

// Holder is the process that holds an agent's lock, identified as a Process is.
type Holder struct {
	PID        int       `json:"pid"`
	StartTime  uint64    `json:"start_time"` // clock ticks since boot on Linux, microseconds since 1970 on macOS
	BootID     string    `json:"boot_id"`
	Generation int       `json:"generation"`
	Session    string    `json:"session"`
	Agent      string    `json:"agent"`
	At         time.Time `json:"at"`                 // when the lock was taken, UTC
	Headless   bool      `json:"headless,omitempty"` // it is a paw that runs a turn without a terminal
	Prompted   bool      `json:"prompted,omitempty"` // its CLI gets a first prompt from paw
	// The CLI of a headless turn and its start time, once it runs.
	CLI      int    `json:"cli,omitempty"`
	CLIStart uint64 `json:"cli_start,omitempty"`
}

// cli is the process that leads the launch's terminal session: the holder, which became the CLI, or the CLI of a headless
// turn.
func (h Holder) cli() Holder {
	if h.Headless {
		h.PID, h.StartTime = h.CLI, h.CLIStart
	}
	return h
}

// ThisProcess identifies the calling process; it stays valid when the process executes another program. Session, Agent
// and Generation are left to the caller.
func ThisProcess() (Holder, error) {
	p, err := FindProcess(os.Getpid())
	return Holder{PID: p.PID, StartTime: p.StartTime, BootID: p.BootID, At: time.Now().UTC().Round(0)}, err
}

// Alive reports whether that very process still runs.
func (h Holder) Alive() bool {
	return Process{PID: h.PID, StartTime: h.StartTime, BootID: h.BootID}.Alive()
}

// mark is the launch's entry in the environment of its processes.
func (h Holder) mark() []byte {
	return fmt.Appendf(nil, "\x00PAW_LAUNCH=%s/%s/%d\x00", h.Session, h.Agent, h.Generation)
}

// processFacts is what the system says about a pid.
type processFacts struct {
	started uint64
	dead    bool // a zombie: it answers to signals, but its program has ended
}
