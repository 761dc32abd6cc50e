package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session/turn"
	"paw/worktree"
)

// turnTags are the refs of all turn tags, as git's settings name them.
const turnTags = "refs/tags/" + turn.TagPrefix + "*"

// hideTags is the command that keeps turn tags out of git log.
var hideTags = "git config --add log.excludeDecoration " + errs.Quote(turnTags)

// decorationNote says of a repository that is about to get its first turn tags how to keep them out of git log.
func decorationNote(ctx context.Context, m worktree.Manager) []string {
	if hidden, err := m.Undecorated(ctx, turnTags); err != nil || hidden {
		return nil
	}
	return []string{"turn tags will show in git log; " + hideTags + " keeps them out (paw doctor --fix does that)"}
}

// examineDecoration says of the repository one stands in whether its turn tags show in git log, and with fix changes that.
func (f *findings) examineDecoration(ctx context.Context, h *app.App, fix bool) {
	repository, err := worktree.Discover(h.Dir)
	if err != nil {
		return
	}
	m := h.Manager(repository)
	if tags, err := turns.AllTags(ctx, m); err != nil || len(tags) == 0 {
		return
	}
	if hidden, err := m.Undecorated(ctx, turnTags); err != nil || hidden {
		return
	}
	if !fix {
		f.fine("turn tags show in git log", "paw doctor --fix")
	} else if err := m.Undecorate(ctx, turnTags); err != nil {
		f.wrong(errs.WithHints(err, hideTags))
	} else {
		f.fine("git log no longer names turn tags: " + hideTags)
	}
}
