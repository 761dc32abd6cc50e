package refs

import (
	"context"

	"paw/worktree/git"
)

// Writer makes new refs one after the other with one git process, which starts with the first of
// them. Each ref is there when its call returns.
type Writer struct{ git *git.Answering }

// Through returns r with a Writer for the refs that Create makes, for a caller that makes several
// with other work between them. Nil changes nothing.
func (r Store) Through(w *Writer) Store {
	r.writer = w
	return r
}

// create makes a ref in a transaction of its own. A git that fails has ended.
func (w *Writer) create(ctx context.Context, home git.Repo, ref, oid string) (err error) {
	if w.git == nil {
		if w.git, err = home.Start(ctx, git.Quietly("update-ref", "--no-deref", "-z", "--stdin")...); err != nil {
			return err
		}
	}
	if err = w.git.Ask("start\x00create "+ref+"\x00"+oid+"\x00commit\x00", 2); err != nil {
		w.git = nil
	}
	return err
}

// Close ends the git process, if there is one.
func (w *Writer) Close() {
	if w.git != nil {
		w.git.Close()
		w.git = nil
	}
}
