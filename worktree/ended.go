package worktree

import (
	"context"
	"errors"

	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
)

// EndMoveIn is EndMove for the linked worktree at path.
func (m *Moves) EndMoveIn(ctx context.Context, path string) (*Ended, error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return nil, err
	}
	return m.EndMove(ctx, gitdir.Checkout{Path: path, AdminDir: admin})
}

// EndMove ends an interrupted move (see Journal) in a worktree; the result is nil if there is none. A
// rewind is done again, and what is there now is kept under another rescue ref. Of a landing, the branch
// decides whether it has taken place: git moves the branch last. If it has not, files and index are put
// back, except files that somebody else has written. EndMove may be repeated.
func (m *Moves) EndMove(ctx context.Context, c gitdir.Checkout) (*Ended, error) {
	if !journal.Left(c.AdminDir) {
		return nil, nil
	}
	at, err := m.lockPlace(ctx, c)
	if err != nil {
		return nil, err
	}
	defer at.release()
	j, err := journal.Read(c.AdminDir)
	if j == nil {
		return nil, errors.Join(err, m.unlockStale(at))
	}
	v := &move{Journal: *j, m: m, at: at, step: func(string) {}}
	if j.Ref == "HEAD" {
		return v.endRewind(ctx)
	}
	ended := &Ended{Journal: *j}
	if ended.Moved, err = m.reached(ctx, m.head(ctx, c), j); err != nil || ended.Moved {
		if err == nil {
			err = v.close()
		}
		return ended, err
	}
	left, err := v.putBack(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		ended.Note, ended.Hint = strangers(left), "git -C "+git.Quote(c.Path)+" status"
	}
	return ended, v.close()
}
