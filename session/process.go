package session

import (
	"fmt"
	"os"
	"time"
)

// Holder is the process that holds an agent's lock, identified so that it cannot be mistaken for another one that got
// the same pid later, before or after a reboot.
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
	facts, err := inspectProcess(os.Getpid())
	if err != nil {
		return Holder{}, fmt.Errorf("process %d: %w", os.Getpid(), err)
	}
	return Holder{PID: os.Getpid(), StartTime: facts.started, BootID: BootID(), At: time.Now().UTC().Round(0)}, nil
}

// Alive tells whether that very process still runs: same boot, same start time, and not a zombie. One is alive until its
// last thread has ended, because until then it has not let go of its lock.
func (h Holder) Alive() bool {
	if h.PID <= 0 || h.BootID != BootID() {
		return false
	}
	facts, err := inspectProcess(h.PID)
	return err == nil && !facts.dead && facts.started == h.StartTime
}

// processFacts is what the system says about a pid.
type processFacts struct {
	started uint64
	dead    bool // a zombie: it answers to signals, but its program has ended
}
