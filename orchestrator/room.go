package orchestrator

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// leaveOver takes those agents out of the jobs that would be more than [agents] max_running allows. Agents whose turn was cut, at work or
// with a question, come first, and room is kept for those of sessions that are recovered later. Where the user has named the
// agents, it refuses. Where no limit is set, it notes that memory is short.
func leaveOver(h *app.App, s *session.Session, jobs []launch.Job, o RecoverOptions) error {
	var starting []*launch.Job
	var clis []string
	for i := range jobs {
		if jobs[i].Starts() {
			starting, clis = append(starting, &jobs[i]), append(clis, s.Agent(jobs[i].Agent).CLI)
		}
	}
	if note := memoryNote(h, clis); note != "" {
		h.Notef("%s", note)
	}
	if o.AllAgents {
		return nil
	}
	err := observe.RequireRoom(h, len(starting)+o.before+o.later)
	if !errors.Is(err, observe.ErrFull) {
		return err
	}
	if len(o.Agents) > 0 && len(starting) > 0 {
		return errs.WithHints(err, "paw recover "+s.Name+" "+strings.Join(o.Agents, " ")+" --all-agents")
	}
	room, _, err := observe.Room(h)
	room = max(0, room-o.before)
	cut := 0
	slices.SortStableFunc(starting, func(a, b *launch.Job) int { return rank(h, s, a.Agent) - rank(h, s, b.Agent) })
	for cut < len(starting) && rank(h, s, starting[cut].Agent) == 0 {
		cut++
	}
	for _, j := range starting[min(len(starting), max(min(room, cut), room-o.later)):] {
		*j = launch.Job{Result: launch.Result{Agent: j.Agent, CLI: j.CLI, Kind: launch.ResultLeft, Notes: j.Notes, Reason: fmt.Sprintf(
			"[agents] max_running is %d; %s brings it back", h.Config.Agents.MaxRunning, errs.Line("paw recover %s --all-agents", s.Name))}}
	}
	return err
}

// rank returns 0 for an agent whose turn was cut, and 1 for others.
func rank(h *app.App, s *session.Session, agent string) int {
	if last, err := h.TurnDir(s.Name, agent).Last(); err == nil && last != nil && (last.State == turn.InProgress || last.Cut()) {
		return 0
	}
	return 1
}

// cutIn counts the agents of sessions whose turn was cut and that do not run.
func cutIn(h *app.App, sessions []*session.Session) (n int) {
	for _, s := range sessions {
		for _, w := range s.Agents {
			lock, err := h.Locks.PeekAgent(s.Name, w.Name)
			if err == nil && lock.State == session.LockFree && s.Status != session.StatusStopped && rank(h, s, w.Name) == 0 {
				n++
			}
		}
	}
	return n
}

// memoryNote says that the machine has less free memory than agents of these CLIs may need, "" if it
// has enough, if that is not known, or if the user has limited how many agents run.
func memoryNote(h *app.App, clis []string) string {
	clis = slices.DeleteFunc(slices.Clone(clis), func(cli string) bool { return cli == app.BuiltIn }) // which needs nearly nothing
	memory, err := os.ReadFile("/proc/meminfo")
	if err != nil || h.Config.Agents.MaxRunning > 0 {
		return ""
	}
	return lowMemory(string(memory), len(clis))
}

// lowMemory is memoryNote for the content of /proc/meminfo.
func lowMemory(memory string, agents int) string {
	_, rest, _ := strings.Cut(memory, "MemAvailable:")
	free := 0
	if n, err := fmt.Sscanf(rest, "%d kB", &free); n != 1 || err != nil || free >= agents<<20 {
		return ""
	}
	return fmt.Sprintf("%d MiB of memory are free, and %s may need 1 GiB each; [agents] max_running limits how many run", free>>10, errs.Counted(agents, "new agent"))
}
