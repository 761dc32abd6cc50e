package landing

import (
	"fmt"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/worktree/gitdir"
)

// undoLine returns the command that takes a landing off its branch.
func undoLine(h *app.App, l *Stand, at *gitdir.Checkout) string {
	if l.tip == l.After {
		return fmt.Sprintf("paw land --undo %d%s", l.ID, h.Place().Of(l.Session))
	}
	return revertLine(l, at)
}

// revertLine returns the command that reverts a landing with new commits, where its branch is
// checked out. Where it is not known which commit brought it, the user has to look.
func revertLine(l *Stand, at *gitdir.Checkout) string {
	what := []string{"revert", l.After}
	switch {
	case len(l.Made) > 0:
		newest := slices.Clone(l.Made)
		slices.Reverse(newest)
		what = append([]string{"revert"}, newest...)
	case l.rewritten() && l.Commit == "":
		what = []string{"log", "--oneline", l.Before + ".." + errs.Quote(l.Target)}
	case l.As == string(Merge):
		what = []string{"revert -m 1", l.Commit}
	case l.rewritten():
		what = []string{"revert", l.Commit}
	case l.As == string(Commits):
		what = []string{"revert", l.Before + ".." + l.After}
	}
	return gitLine(l.Target, at, what...)
}
