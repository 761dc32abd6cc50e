package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/session"
)

// awayGrace is how long a CLI may take to end a process that works outside of its pane.
const awayGrace = 10 * time.Second

// endAway has the CLIs of agents end what they have taken out of their panes. What still runs afterwards gets signals, as all that a
// launch has left.
func endAway(ctx context.Context, h *app.App, s *session.Session, left []remains) {
	for _, r := range left {
		w := r.agent.Record
		c, executable, err := h.ProgramOf(&w)
		if err != nil || !c.Leaves() {
			continue
		}
		spec := h.Spec(s, &w, executable)
		for _, away := range c.Away(spec) {
			command, can := c.EndAway(spec, away)
			if !can {
				continue
			}
			within, cancel := context.WithTimeout(ctx, awayGrace)
			ended := cli.Process{
				Argv: command.Argv, Dir: s.RepoPath, Env: Environment(h, s, &w, r.agent.Lock.Holder.Generation, command),
				Stdout: func([]byte) {}, Stderr: func([]byte) {}, Started: func(func()) {},
			}.Run(within)
			cancel()
			if ended.Err != nil || ended.ExitCode != 0 {
				h.LogHook(w.CLI, "stop", fmt.Errorf("%s: pid %d in the background: %s", w.Name, away.PID, cmp.Or(strings.TrimSpace(ended.Trace), "not ended")))
			}
			poll.Until(ctx, poll.Tick, awayGrace, func() bool { return errors.Is(unix.Kill(away.PID, 0), unix.ESRCH) })
			h.Step("stop.away-ended")
		}
	}
}
