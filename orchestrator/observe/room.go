package observe

import (
	"errors"
	"fmt"
	"math"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// ErrFull is the cause of the refusal to start more agents than the configuration allows.
var ErrFull = errors.New("max_running")

// launchTime is how long a launch in a new pane may take, at most, to hold its agent's lock.
const launchTime = time.Minute

// Room returns how many agents may still be started by the configuration's limit, and how many run,
// in all sessions: 0 of them are counted where there is no limit.
func Room(h *app.App) (room, running int, err error) {
	most := h.Config.Agents.MaxRunning
	if most == 0 {
		return math.MaxInt, 0, nil
	}
	sessions, _, err := h.Store.ListAll()
	for _, s := range sessions {
		open := OpenLaunches(h, s.Name)
		for _, w := range s.Agents {
			if runs(h, s, w, open[w.Name]) {
				running++
			}
		}
	}
	return max(0, most-running), running, err
}

// runs reports whether an agent runs or is about to: from its record to its pane it is being made,
// until its launcher reads the launch it is being launched, and from there on its lock is held.
func runs(h *app.App, s *session.Session, w session.Agent, open map[int]time.Time) bool {
	for _, at := range open {
		if h.Now().Sub(at) < launchTime {
			return true
		}
	}
	lock, err := h.Locks.PeekAgent(s.Name, w.Name)
	_, made := h.Locks.CreatedBy(s.Name, w.Name)
	return err != nil || lock.State != session.LockFree || made
}

// RequireRoom refuses to start so many agents more where the configuration's limit is below that.
func RequireRoom(h *app.App, starting int) error {
	room, running, err := Room(h)
	if err != nil || starting <= room {
		return err
	}
	said := errs.Counted(running, "agent") + " run"
	if running == 1 {
		said += "s"
	}
	if starting > 1 {
		said += fmt.Sprintf(", %d are to start", starting)
	}
	e := errs.New(errs.Refused, "%s, and [agents] max_running is %d", said, h.Config.Agents.MaxRunning)
	e.Err = ErrFull
	return e.Hint("paw status --all")
}
