package landing

import (
	"context"

	"paw/orchestrator/errs"
	"paw/worktree/states"
)

// claims returns the commit to which a git reset --soft makes HEAD of an agent's worktree say again what its files have, "" where it does:
// after one to a newer commit of the target, git takes what that commit has and the files have not for taken back. committed says that the
// agent's commits do so, and not only its files.
func (w work) claims(ctx context.Context, t target, src *source) (instead string, committed bool, err error) {
	if w.Session.Host != "" {
		return "", false, nil
	}
	made, err := w.made()
	if err != nil {
		return "", false, err
	}
	return w.Repo.States().Claims(ctx, states.Claims{Dir: t.place(w.Repo), Tip: t.tip, State: src.Twin, Head: src.Head, Made: made})
}

// refuseClaims refuses to merge, replay or push commits that would take back what others have done, and returns else what claims does.
// not says what has not happened. Other hints come first.
func (w work) refuseClaims(ctx context.Context, t target, src *source, not string, hints ...string) (instead string, err error) {
	instead, committed, err := w.claims(ctx, t, src)
	if !committed || err != nil {
		return instead, err
	}
	line := "git -C " + errs.Quote(w.Record.WorktreePath) + " reset --soft " + instead[:12]
	e := errs.New(errs.Refused, "%s: %s; its commits take back what its files never had of %s, as after git reset --soft", w.name(), not, t.branch)
	for _, hint := range append(hints, line) {
		e = e.Hint("%s", hint)
	}
	return "", e
}
