package launch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// setUpWorktrees makes worktrees usable that were just checked out, or whose set-up
// was cut short: files copied and linked from the main checkout, and the set-up
// command. A failure is reported and the agent still starts.
func setUpWorktrees(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, jobs []Job) {
	out := &SharedWriter{W: h.Progress}
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	work := false
	for i := range jobs {
		j := &jobs[i]
		path := s.Agent(j.Agent).WorktreePath
		if j.Result == ResultRefused || j.Worktree == WorktreeKeep && (!j.Starts() || !m.Unprepared(path)) {
			continue
		}
		work = work || !h.Setup(j.Agent, nil).Empty()
		group.Go(func() error {
			setUpWorktree(ctx, h, m, s.Name, path, j, out)
			return nil
		})
	}
	_ = group.Wait()
	if work {
		h.Step("worktrees.set-up")
	}
}

func setUpWorktree(ctx context.Context, h *app.App, m worktree.Manager, session, path string, j *Job, out io.Writer) {
	lines := &prefixWriter{prefix: j.Agent + " | ", to: out}
	setup := h.Setup(j.Agent, lines)
	for _, problem := range m.SetUp(ctx, path, setup) {
		note := problem.String()
		if problem.Err != nil {
			note += fmt.Sprintf(" (paw sh %s/%s sh -c %s runs it again)", session, j.Agent, errs.Quote(setup.Command))
		}
		j.Notes = append(j.Notes, note)
	}
	lines.flush()
}

// SharedWriter lets several set-ups write whole lines to one place.
type SharedWriter struct {
	mu sync.Mutex
	W  io.Writer
}

func (s *SharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.W == nil {
		return len(b), nil
	}
	return s.W.Write(b)
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

// Close closes what the writer writes to, if that can be closed.
func (s *SharedWriter) Close() {
	if c, ok := s.W.(io.Closer); ok {
		_ = c.Close()
	}
}
