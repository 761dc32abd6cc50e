package orchestrator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/worktree"
)

// setUpWorktrees makes worktrees usable that were just checked out, or whose set-up
// was cut short: files copied and linked from the main checkout, and the set-up
// command. A failure is reported and the agent still starts.
func (p *Paw) setUpWorktrees(ctx context.Context, m worktree.Manager, s *session.Session, jobs []job) {
	out := &sharedWriter{w: p.Progress}
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	c, work := p.Config.Worktree, false
	for i := range jobs {
		j := &jobs[i]
		path := s.Worktree(j.agent).WorktreePath
		if j.result == ResultRefused || j.worktree == worktreeKeep && (!j.starts() || !m.Unprepared(path)) {
			continue
		}
		work = work || len(c.Copy) > 0 || len(c.Link) > 0 || c.Setup != ""
		group.Go(func() error {
			p.setUpWorktree(ctx, m, path, j, out)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // cut short: whoever goes on with it begins again
			}
			if err := m.Prepared(path); err != nil {
				j.notes = append(j.notes, err.Error())
			}
			return nil
		})
	}
	_ = group.Wait()
	if work {
		p.Step("worktrees.set-up")
	}
}

func (p *Paw) setUpWorktree(ctx context.Context, m worktree.Manager, path string, j *job, out io.Writer) {
	c := p.Config.Worktree
	if len(c.Copy) == 0 && len(c.Link) == 0 && c.Setup == "" {
		return
	}
	if c.Setup != "" {
		p.say("%s: %s", j.agent, c.Setup)
	}
	lines := &prefixWriter{prefix: j.agent + " | ", to: out}
	for _, problem := range m.SetUp(ctx, path, c.Copy, c.Link, c.Setup, lines, agent.Scrub(p.Env)) {
		j.notes = append(j.notes, problem.String())
	}
	lines.flush()
}

// sharedWriter lets several set-ups write whole lines to one place.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return len(b), nil
	}
	return s.w.Write(b)
}

// prefixWriter puts the agent's name before each line.
type prefixWriter struct {
	prefix string
	to     io.Writer
	rest   []byte
}

func (w *prefixWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		fmt.Fprintf(w.to, "%s%s\n", w.prefix, w.rest[:end])
		w.rest = w.rest[end+1:]
	}
}

func (w *prefixWriter) flush() {
	if len(w.rest) > 0 {
		fmt.Fprintf(w.to, "%s%s\n", w.prefix, w.rest)
		w.rest = nil
	}
}
