package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/review"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/worktree"
)

// Comments holds the comments on an agent's work that were not sent yet, in order.
type Comments struct {
	List  []review.Comment
	Stale []bool // of each comment, whether its lines have changed since
}

// ReadComments returns the comments on an agent's work that were not sent yet. It changes nothing.
func ReadComments(h *app.App, s *session.Session, agentName string) (*Comments, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	found := &Comments{}
	content, err := os.ReadFile(h.Texts().CommentsPath(s.Name, agentName))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &found.List); err != nil {
		return nil, fmt.Errorf("%s: %w", h.Texts().CommentsPath(s.Name, agentName), err)
	}
	for _, c := range found.List {
		found.Stale = append(found.Stale, isStale(w, c))
	}
	return found, nil
}

// isStale reports whether the lines of a comment have changed in the worktree.
func isStale(w *session.Agent, c review.Comment) bool {
	root, err := os.OpenRoot(w.WorktreePath)
	if err != nil || c.Path == "" {
		return false
	}
	defer root.Close()
	now, err := root.ReadFile(filepath.FromSlash(c.Path))
	return c.Stale(string(now), err == nil)
}

// changeComments replaces the list of comments under the agent's typing lock, which keeps other
// processes from changing the list or typing to the agent.
func changeComments(ctx context.Context, h *app.App, s *session.Session, agentName string, change func([]review.Comment) ([]review.Comment, error)) error {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return err
	}
	unlock, err := typing.Lock(ctx, h.Agent(s, w))
	if err != nil {
		return err
	}
	defer unlock()
	now, err := ReadComments(h, s, agentName)
	if err != nil {
		return err
	}
	list, err := change(now.List)
	if err != nil {
		return err
	}
	file := h.Texts().CommentsPath(s.Name, agentName)
	if len(list) == 0 {
		return disk.RemoveFile(file)
	}
	content, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return disk.Replace(file, append(content, '\n'))
}

// AddComments keeps comments on an agent's work until SendComments. It adds an excerpt of the
// current lines to a comment that has none.
func AddComments(ctx context.Context, h *app.App, s *session.Session, agentName string, more ...review.Comment) error {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return err
	}
	for i := range more {
		if strings.TrimSpace(more[i].Text) == "" {
			return errs.New(errs.Usage, "%s: the comment is empty", agentName)
		}
		if more[i].Commit != "" { // comments on a patch come with an excerpt
			continue
		}
		if err := withExcerpt(w, &more[i]); err != nil {
			return err
		}
	}
	return changeComments(ctx, h, s, agentName, func(list []review.Comment) ([]review.Comment, error) {
		return append(list, more...), nil
	})
}

// withExcerpt adds the current lines of the worktree to a comment that names a file and lines.
func withExcerpt(w *session.Agent, c *review.Comment) error {
	if c.Path == "" || c.Excerpt != "" || c.Removed {
		return nil
	}
	path := filepath.FromSlash(c.Path)
	if filepath.IsAbs(path) {
		if below, err := filepath.Rel(w.WorktreePath, path); err == nil && filepath.IsLocal(below) {
			path = below
		}
	}
	if !filepath.IsLocal(path) {
		return errs.New(errs.Usage, "%s: is not in the worktree of %s", c.Path, w.Name)
	}
	root, err := os.OpenRoot(w.WorktreePath)
	if err != nil {
		return err
	}
	defer root.Close()
	content, err := root.ReadFile(path)
	if _, statErr := os.Stat(filepath.Join(w.WorktreePath, path)); err != nil && statErr == nil {
		if _, err := root.Stat(path); err != nil {
			return errs.New(errs.Usage, "%s: is a link that leads out of the worktree of %s", c.Path, w.Name)
		}
	}
	if err != nil {
		return errs.New(errs.Usage, "%s: cannot be read in the worktree of %s: %w", c.Path, w.Name, err)
	}
	c.Path = filepath.ToSlash(path)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if c.First == 0 {
		return nil
	}
	if c.First < 1 || c.Last < c.First || c.Last > len(lines) {
		return errs.New(errs.Usage, "%s: has %s", c.Place(), errs.Counted(len(lines), "line"))
	}
	c.Excerpt = strings.Join(lines[c.First-1:c.Last], "\n")
	return nil
}

// DropComments forgets all comments that were not sent.
func DropComments(ctx context.Context, h *app.App, s *session.Session, agentName string) error {
	return changeComments(ctx, h, s, agentName, func([]review.Comment) ([]review.Comment, error) { return nil, nil })
}

// ChangeComment gives a comment that was not sent another text; without one it is forgotten.
func ChangeComment(ctx context.Context, h *app.App, s *session.Session, agentName string, old review.Comment, text string) error {
	return changeComments(ctx, h, s, agentName, func(list []review.Comment) ([]review.Comment, error) {
		i := slices.Index(list, old)
		if i < 0 {
			return nil, errs.New(errs.Failed, "%s: that comment was sent or changed meanwhile", agentName)
		}
		if text = strings.TrimSpace(text); text == "" {
			return slices.Delete(list, i, i+1), nil
		}
		list[i].Text = text
		return list, nil
	})
}

// SendComments sends all comments as one prompt, and drops them once the CLI has the prompt. It
// returns nil if there are none. A prompt that is refused or not confirmed leaves them all.
func SendComments(ctx context.Context, h *app.App, s *session.Session, agentName string) (*typing.Sent, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	now, err := ReadComments(h, s, agentName)
	if err != nil || len(now.List) == 0 {
		return nil, err
	}
	prompt := review.Prompt(now.List, func(c review.Comment) bool { return isStale(w, c) })
	sent, err := Send(ctx, h, s, agentName, prompt, true)
	if err != nil {
		return nil, errs.WithHints(err, fmt.Sprintf("paw review %s/%s --send", s.Name, agentName))
	}
	return sent, changeComments(context.WithoutCancel(ctx), h, s, agentName, func(list []review.Comment) ([]review.Comment, error) {
		return review.Without(list, now.List), nil // the list may have changed since it was read
	})
}

// EditReview lets the user comment on a patch in git's editor, on the given streams, and returns
// the comments. A text that cannot be parsed is kept in a file, which the error names.
func EditReview(ctx context.Context, h *app.App, c *Compared, patch string, stdin io.Reader, stdout, stderr io.Writer) ([]review.Comment, error) {
	text := review.ForEditor(patch, "what "+c.of.Session.Name+"/"+c.of.Record.Name+" has done")
	edited, err := worktree.Edit(ctx, h.Dir, "review.diff", text, h.Env, stdin, stdout, stderr)
	if err != nil {
		return nil, errs.New(errs.Failed, "the editor: %w; nothing was sent", err)
	}
	found, err := review.Comments(text, edited)
	if err != nil {
		kept, keepErr := h.KeepText(c.of.Session.Name, c.of.Record.Name, "review-*.diff", edited)
		if keepErr != nil {
			return nil, errors.Join(err, keepErr)
		}
		return nil, errs.New(errs.Failed, "%s: %w; nothing was sent, what you wrote is in %s", c.of.Record.Name, err, kept)
	}
	for i := range found {
		found[i].Commit = c.To
	}
	return found, nil
}
