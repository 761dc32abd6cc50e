package checks

import (
	"context"
	"errors"
	"fmt"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/states"
)

// Broken is the turn that broke a check: the check fails at its end and passes at an earlier one.
type Broken struct {
	Session, Agent string
	Turn           int    // 0 if the end of the last turn passes
	Prompt         string // prompt of the turn
	Good           int    // last turn whose end passes, 0 for the base
	Unknown        string // turns between Good and Turn whose ends are unknown, such as "3-4"
	Runs           int    // how often the checks ran

	Main string // branch of which paw bisect --main has asked
	Out  string // then: the command that takes it out of the branch or, with Agent "", finds the commit: no landing broke it. With Turn 0 no turn alone did
}

// end is the state at the end of a turn. The base has the number 0.
type end struct {
	number int
	commit string
	prompt string
}

// Bisect finds the turn of an agent that broke the project's checks, or the given commands. It runs
// them on the ends of the turns that led to the present state, unless they have passed there before.
func Bisect(ctx context.Context, h *app.App, s *session.Session, agentName string, commands []string) (*Broken, error) {
	a, err := agentOf(ctx, h, s, agentName)
	if err != nil {
		return nil, err
	}
	c := &Checker{App: h, Session: s, Repo: a.Repo}
	if c.Commands, err = Some(h, agentName, commands, "paw bisect --help"); err != nil {
		return nil, err
	}
	list, _, err := turns.List(ctx, a)
	if err != nil {
		return nil, err
	}
	list.Turns, err = withoutRewound(ctx, a, list.Turns)
	if err != nil {
		return nil, err
	}
	ends := endsOf(a.Record.Base(), list.Turns)
	if len(ends) < 2 {
		return nil, errs.New(errs.NotFound, "%s: no turn has ended whose end is known", agentName).Hint("paw turns %s/%s", s.Name, agentName)
	}
	b := &Broken{Session: s.Name, Agent: agentName}
	fails := func(i int) (bool, error) {
		h.Sayf("%s: the end of turn %d", agentName, ends[i].number)
		b.Runs++
		return c.Fails(ctx, ends[i].commit)
	}
	good, bad, err := Search(len(ends), fmt.Sprintf("%s/%s: fails at its base", s.Name, agentName), fails)
	if err != nil || bad == 0 {
		return b, err
	}
	b.Turn, b.Prompt, b.Good = ends[bad].number, ends[bad].prompt, ends[good].number
	var unknown []turns.Turn
	for _, t := range list.Turns {
		if t.Number > b.Good && t.Number < b.Turn {
			unknown = append(unknown, t)
		}
	}
	b.Unknown = turns.Ranges(unknown)
	return b, nil
}

// agentOf returns an agent with its repository.
func agentOf(ctx context.Context, h *app.App, s *session.Session, name string) (app.Agent, error) {
	record, err := app.AgentNamed(s, name)
	if err != nil {
		return app.Agent{}, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return app.Agent{}, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return app.Agent{}, err
	}
	return h.Agent(s, record).In(m.Remembering()), nil
}

// withoutRewound returns the turns without those that a rewind took off the agent's chain, and notes
// their numbers.
func withoutRewound(ctx context.Context, a app.Agent, list []turns.Turn) (left []turns.Turn, err error) {
	chain, err := turns.ChainOf(ctx, a)
	if err != nil {
		return nil, err
	}
	led, err := states.Merged(ctx, a.Repo.Objects(), chain.Now().Twin, turn.StatePrefix(a.Record.TurnSession))
	var rewound []turns.Turn
	for _, t := range list {
		if ref := turn.StateRef(a.Record.TurnSession, t.Number); chain.Refs[ref] != "" && !led[ref] {
			rewound = append(rewound, t)
		} else {
			left = append(left, t)
		}
	}
	if len(rewound) > 0 {
		a.App.Notef("%s/%s: left out, taken off by a rewind: %s", a.Session.Name, a.Record.Name, turns.Words(turns.Ranges(rewound)))
	}
	return left, err
}

// endsOf returns the base and the known ends of finished turns, oldest first.
func endsOf(base string, list []turns.Turn) []end {
	ends := []end{{commit: base}}
	for _, t := range list {
		if t.State != turn.InProgress && t.After != "" {
			ends = append(ends, end{t.Number, t.After, display.Title(t.Prompt.Words())})
		}
	}
	return ends
}

// Fails reports whether a commit fails the checks.
func (c *Checker) Fails(ctx context.Context, commit string) (bool, error) {
	err := c.Run(ctx, commit)
	if _, ok := errors.AsType[*Error](err); ok {
		return true, nil
	}
	return false, err
}

// Search finds two neighbours among n states, of which the first passes and the second fails; none where the last one passes. first says that
// the first state fails, for the error.
func Search(n int, first string, fails func(int) (bool, error)) (good, bad int, err error) {
	if bad, err := fails(n - 1); err != nil || !bad {
		return 0, 0, err
	}
	if bad, err := fails(0); err != nil {
		return 0, 0, err
	} else if bad {
		return 0, 0, errs.New(errs.CheckFailed, "%s already, no turn broke it", first)
	}
	return narrow(0, n-1, fails)
}

// narrow finds two neighbours between good and bad, of which the first passes and the second fails.
func narrow(good, bad int, fails func(int) (bool, error)) (int, int, error) {
	for bad-good > 1 {
		middle := good + (bad-good)/2
		failed, err := fails(middle)
		if err != nil {
			return 0, 0, err
		}
		if failed {
			bad = middle
		} else {
			good = middle
		}
	}
	return good, bad, nil
}

// String names the turn, and the command that goes back to the state before it.
func (b *Broken) String() string {
	switch {
	case b.Main != "" && b.Out == "":
		return b.Main + " passes, nothing is broken"
	case b.Main != "" && b.Agent == "":
		return "no landing broke it\n" + b.Out + " finds the commit"
	case b.Main != "" && b.Turn == 0:
		return fmt.Sprintf("what %s/%s landed broke it, no turn alone: %s\n%s takes it out", b.Session, b.Agent, display.Graphemes.Cut(b.Prompt, display.TitleWidth), b.Out)
	case b.Turn == 0:
		return fmt.Sprintf("%s/%s: the end of its last turn passes, nothing is broken", b.Session, b.Agent)
	}
	which := fmt.Sprintf("turn %d broke it: %s", b.Turn, display.Graphemes.Cut(b.Prompt, display.TitleWidth))
	if b.Unknown != "" {
		which = fmt.Sprintf("turn %d broke it, or %s, whose end is not known: %s", b.Turn, turns.Words(b.Unknown), display.Graphemes.Cut(b.Prompt, display.TitleWidth))
	}
	if b.Main != "" {
		return fmt.Sprintf("%s/%s, %s\n%s takes it out", b.Session, b.Agent, which, b.Out)
	}
	return fmt.Sprintf("%s\npaw rewind %s/%s %d goes back to before it", which, b.Session, b.Agent, b.Good)
}
