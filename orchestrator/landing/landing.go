package landing

import (
	"context"
	"paw/orchestrator/checks"
	"paw/orchestrator/turns"
	"paw/session/turn"
)

// landing is one run of paw land for one agent.
type landing struct {
	work
	target  // looked at anew each time the landing starts again
	options Options
	version func(made []turns.Turn) string // version of the CLI; nil if no message needs it
	checker *checks.Checker
	edited  string // message that the user has edited

	source  *source // nil before the first look
	lands   *lands
	parents []string // of the landing's last commit
}

// message lets the user edit the draft, once.
func (l *landing) message(ctx context.Context, draft string) (string, error) {
	if l.options.Edit == nil || l.options.DryRun {
		return draft, nil
	}
	if l.edited == "" {
		var err error
		if l.edited, err = edited(ctx, l.options.Edit, draft, "has landed"); err != nil {
			return "", err
		}
	}
	return l.edited + "\n", nil
}

// nextID returns a number for the landing that the refs of no earlier one have, also if the record of that one is
// lost. The caller keeps others from landing.
func (l *landing) nextID(ctx context.Context) int {
	refs, _ := l.Repo.Refs().List(ctx, turn.LandedPrefix(l.Record.TurnSession)) // the record has most numbers
	return nextBelow(refs, turn.LandedPrefix(l.Record.TurnSession))
}
