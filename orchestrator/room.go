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
)

// leaveOver leaves agents as they are that would be more than may run at the same time. Those whose
// turn was cut, at work or with a question, come first. It refuses where the user named the agents. Where
// nothing is limited, it notes that memory is short.
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
	err := observe.RequireRoom(h, len(starting))
	if !errors.Is(err, observe.ErrFull) {
		return err
	}
	if len(o.Agents) > 0 && len(starting) > 0 {
		return errs.WithHints(err, "paw recover "+s.Name+" "+strings.Join(o.Agents, " ")+" --all-agents")
	}
	room, _, err := observe.Room(h)
	slices.SortStableFunc(starting, func(a, b *launch.Job) int { return min(b.CutTurn, 1) - min(a.CutTurn, 1) })
	for _, j := range starting[min(room, len(starting)):] {
		*j = launch.Job{Result: launch.Result{Agent: j.Agent, CLI: j.CLI, Kind: launch.ResultLeft, Notes: j.Notes, Reason: fmt.Sprintf(
			"[agents] max_running is %d; %s brings it back", h.Config.Agents.MaxRunning, errs.Line("paw recover %s --all-agents", s.Name))}}
	}
	return err
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
