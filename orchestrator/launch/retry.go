package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
)

// resumeGrace is how long recover watches a CLI that resumes a conversation which paw could not
// look up: a CLI without the conversation says so and exits within two seconds.
const resumeGrace = 3 * time.Second

// resumePatience is how long recover watches a CLI that refused the conversation before: gemini
// needs eight seconds to refuse on an idle machine. The watch ends early when the CLI shows that it
// has opened the conversation.
const resumePatience = 40 * time.Second

// startRefused starts the agents fresh whose CLI refused its conversation. The refused id stays in
// the record, and the CLI's words become the reason.
func startRefused(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) (*session.Session, error) {
	var again []*Job
	for _, j := range jobs {
		if !j.launched() || j.Result != ResultResumed || !j.unverified {
			continue
		}
		if reason, refused := refusedResume(ctx, h, s, j); refused {
			j.Result, j.Reason = ResultFresh, reason
			if cli, err := h.CLIOf(s.Agent(j.Agent)); err == nil {
				j.planned, j.chosen = s.Agent(j.Agent).Conversation(), cli.NewConversation()
			}
			again = append(again, j)
		}
	}
	if len(again) == 0 {
		return s, nil
	}
	if _, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, j := range again {
			Intend(rec.Agent(j.Agent), *j)
		}
		return nil
	}); err != nil {
		return s, err
	}
	s, err := openPanes(ctx, h, s, again)
	if err == nil {
		awaitLaunches(ctx, h, s, again)
	}
	return s, err
}

// opened waits until an agent that refused its conversation before has opened it (a hook reported,
// or the screen shows an input box or a dialog) or no longer runs, and reports whether it opened.
func opened(ctx context.Context, h *app.App, s *session.Session, name string) bool {
	shown := false
	poll.Until(ctx, 200*time.Millisecond, resumePatience, func() bool {
		f, err := observe.With(ctx, h, s, observe.AskTmux(h), observe.WhereUnknown)
		if err != nil {
			return false
		}
		a := f.Agent(name)
		shown = !a.Turns.HooksSeen.IsZero() || a.Turns.Screen.Box != cli.BoxUnseen || a.Turns.Screen.Dialog != ""
		return shown || f.Running(*a) == live.NothingRuns
	})
	return shown
}

// refusedResume watches an agent that was just resumed. It returns true and the reason when the CLI
// exits with an error right away.
func refusedResume(ctx context.Context, h *app.App, s *session.Session, j *Job) (string, bool) {
	name := j.Agent
	if j.refusedBefore && opened(ctx, h, s, name) || observe.Outlives(ctx, h, s, name, resumeGrace) {
		return "", false
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return "", false
	}
	a := f.Agent(name)
	if a == nil || a.Pane == nil || !a.Pane.Dead || (a.Pane.ExitCode != nil && *a.Pane.ExitCode == 0) {
		return "", false
	}
	reason := fmt.Sprintf("%s refused conversation %s", a.Record.CLI, a.Record.Conversation())
	if said := lastOutput(ctx, h, s, a.Pane.ID); said != "" {
		reason += ": " + said
	}
	return reason, true
}

// lastOutput returns the last line of the program in a dead pane, "" when tmux closed the terminal
// before it had read the line, which is lost then.
func lastOutput(ctx context.Context, h *app.App, s *session.Session, paneID string) string {
	screen, err := h.TmuxFor(s).CaptureTail(ctx, paneID, 10)
	if err != nil {
		return ""
	}
	for _, line := range slices.Backward(strings.Split(screen, "\n")) {
		// tmux and paw add lines of their own to a dead pane.
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Pane is dead") && !strings.Contains(line, "paw recover") {
			return line
		}
	}
	return ""
}
