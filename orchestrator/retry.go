package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"paw/session"
)

// resumeGrace is how long recover watches a CLI that was asked for a
// conversation which paw could not look up beforehand: a CLI that does not have
// it says so and ends within a second or two.
const resumeGrace = 3 * time.Second

// startRefused starts those agents fresh whose CLI refused its conversation. The
// refused id stays in the record, and the CLI's own words become the reason.
func (p *Paw) startRefused(ctx context.Context, s *session.Session, jobs []job, launched map[string]int) (*session.Session, error) {
	var again []int
	for i := range jobs {
		j := &jobs[i]
		if _, ok := launched[j.agent]; !ok || j.result != ResultResumed || !j.unverified {
			continue
		}
		if reason, refused := p.refusedResume(ctx, s, j.agent); refused {
			j.result, j.reason = ResultFresh, reason
			if cli, _, err := p.cliOf(s.Worktree(j.agent)); err == nil {
				j.planned, j.chosen = s.Worktree(j.agent).Conversation(), cli.NewConversation()
			}
			again = append(again, i)
		}
	}
	if len(again) == 0 {
		return s, nil
	}
	retry := make([]job, len(again))
	for k, i := range again {
		retry[k] = jobs[i]
	}
	if _, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		for _, j := range retry {
			intend(rec.Worktree(j.agent), j)
		}
		return nil
	}); err != nil {
		return s, err
	}
	s, launched, err := p.openPanes(ctx, s, retry)
	if err != nil {
		return s, err
	}
	p.awaitLaunches(ctx, s, retry, launched)
	for k, i := range again {
		jobs[i] = retry[k]
	}
	return s, nil
}

// refusedResume watches an agent that was just resumed; true with the reason
// when its CLI ended with an error right away.
func (p *Paw) refusedResume(ctx context.Context, s *session.Session, name string) (string, bool) {
	if p.outlives(ctx, s, name, resumeGrace) {
		return "", false
	}
	f, err := p.observe(ctx, s)
	if err != nil {
		return "", false
	}
	a := f.agent(name)
	if a == nil || a.pane == nil || !a.pane.Dead || (a.pane.ExitCode != nil && *a.pane.ExitCode == 0) {
		return "", false
	}
	reason := fmt.Sprintf("%s refused conversation %s", a.record.CLI, a.record.Conversation())
	if said := p.lastWords(ctx, s, a.pane.ID); said != "" {
		reason += ": " + said
	}
	return reason, true
}

// lastWords is the last line that a dead pane shows of its program, "" when tmux
// closed the terminal before it had read that: what it has not read then is gone.
func (p *Paw) lastWords(ctx context.Context, s *session.Session, paneID string) string {
	screen, err := p.tmuxFor(s).CaptureTail(ctx, paneID, 10)
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
