package launch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
)

// resumeGrace is how long recover watches a CLI that was asked for a
// conversation which paw could not look up beforehand: a CLI that does not have
// it says so and ends within a second or two.
const resumeGrace = 3 * time.Second

// startRefused starts those agents fresh whose CLI refused its conversation. The
// refused id stays in the record, and the CLI's own words become the reason.
func startRefused(ctx context.Context, h *home.Home, s *session.Session, jobs []Job, launched map[string]int) (*session.Session, error) {
	var again []int
	for i := range jobs {
		j := &jobs[i]
		if _, ok := launched[j.Agent]; !ok || j.Result != ResultResumed || !j.unverified {
			continue
		}
		if reason, refused := refusedResume(ctx, h, s, j.Agent); refused {
			j.Result, j.Reason = ResultFresh, reason
			if cli, _, err := h.CLIOf(s.Worktree(j.Agent)); err == nil {
				j.planned, j.chosen = s.Worktree(j.Agent).Conversation(), cli.NewConversation()
			}
			again = append(again, i)
		}
	}
	if len(again) == 0 {
		return s, nil
	}
	retry := make([]Job, len(again))
	for k, i := range again {
		retry[k] = jobs[i]
	}
	if _, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, j := range retry {
			Intend(rec.Worktree(j.Agent), j)
		}
		return nil
	}); err != nil {
		return s, err
	}
	s, launched, err := openPanes(ctx, h, s, retry)
	if err != nil {
		return s, err
	}
	awaitLaunches(ctx, h, s, retry, launched)
	for k, i := range again {
		jobs[i] = retry[k]
	}
	return s, nil
}

// refusedResume watches an agent that was just resumed; true with the reason
// when its CLI ended with an error right away.
func refusedResume(ctx context.Context, h *home.Home, s *session.Session, name string) (string, bool) {
	if fleet.Outlives(ctx, h, s, name, resumeGrace) {
		return "", false
	}
	f, err := fleet.Observe(ctx, h, s)
	if err != nil {
		return "", false
	}
	a := f.Agent(name)
	if a == nil || a.Pane == nil || !a.Pane.Dead || (a.Pane.ExitCode != nil && *a.Pane.ExitCode == 0) {
		return "", false
	}
	reason := fmt.Sprintf("%s refused conversation %s", a.Record.CLI, a.Record.Conversation())
	if said := lastWords(ctx, h, s, a.Pane.ID); said != "" {
		reason += ": " + said
	}
	return reason, true
}

// lastWords is the last line that a dead pane shows of its program, "" when tmux
// closed the terminal before it had read that: what it has not read then is gone.
func lastWords(ctx context.Context, h *home.Home, s *session.Session, paneID string) string {
	screen, err := h.TmuxFor(s).CaptureTail(ctx, paneID, 10)
	if err != nil {
		return ""
	}
	return lastLineOf(screen)
}

// lastLineOf is the last line on a screen that is not tmux's own about the dead pane.
func lastLineOf(screen string) string {
	lines := strings.Split(strings.TrimSpace(screen), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line != "" && !strings.HasPrefix(line, "Pane is dead") && !strings.Contains(line, "paw recover") {
			return line
		}
	}
	return ""
}
