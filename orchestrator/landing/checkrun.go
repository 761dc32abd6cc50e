package landing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/states"
)

// run runs the checks on a commit, in order, until one fails.
func (c *checker) run(ctx context.Context, commit string) error {
	tree, err := c.Repo.Objects().TreeOf(ctx, commit)
	if err != nil {
		return err
	}
	place, unlock, err := c.openCheckPlace(ctx, commit)
	if err != nil {
		return err
	}
	defer unlock()
	c.App.Step("check.place")
	for _, command := range c.commands {
		if err := c.one(ctx, place, tree, command); err != nil {
			return err
		}
	}
	if c.passed == nil {
		c.passed = map[string]bool{}
	}
	c.passed[tree] = true
	return nil
}

// one runs one check, unless the tree has passed it before.
func (c *checker) one(ctx context.Context, place, tree, command string) error {
	passed := c.file(tree, command, ".passed")
	if c.passedBefore(tree, command) {
		c.App.Sayf("check: %s: has passed before", oneLine(command))
		return nil
	}
	_ = os.Remove(passed)
	log, err := c.createLog(c.file(tree, command, ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.App.Sayf("check: %s", oneLine(command))
	began := time.Now()
	code, err := c.Repo.Checks().Run(ctx, place, command, c.shown(log), c.App.Agent(c.Session, CheckAgent(c.Session, place)).ProjectEnv())
	if err != nil {
		return err
	}
	if code != 0 {
		return &CheckError{What: "the check", Command: command, Code: code, Log: log.Name(), Place: place}
	}
	c.App.Sayf("check: %s: passed in %s", oneLine(command), time.Since(began).Round(time.Second/10))
	return os.WriteFile(passed, []byte(command+"\n"), 0o600)
}

// CheckOptions are the options of paw check.
type CheckOptions struct {
	Turn     string
	Commands []string // in place of the configured checks
	Fresh    bool
	Handed   map[string]Handed // states of the agents of another machine, by name
}

// Checked is the result of paw check.
type Checked struct {
	Session, Agent string
	Commit, Place  string
	Commands       []string
}

// Check runs the project's checks on the exact state of an agent, in the check worktree.
func Check(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*Checked, error) {
	c, src, err := checkerFor(ctx, h, s, agentName, o)
	if err != nil {
		return nil, err
	}
	if c.commands, err = someChecksFor(h, agentName, o.Commands, fmt.Sprintf("paw check %s --shell", c.name())); err != nil {
		return nil, err
	}
	err = c.run(ctx, src.state)
	if failed, ok := errors.AsType[*CheckError](err); ok {
		return nil, failed.failed(c.name())
	}
	if err != nil {
		return nil, err
	}
	return &Checked{Session: s.Name, Agent: agentName, Commit: src.state, Commands: c.commands}, nil
}

func (c *Checked) String() string {
	return fmt.Sprintf("%s/%s: passed %s", c.Session, c.Agent, strings.Join(c.Commands, ", "))
}

// Show brings the check worktree to the exact state of an agent, for the user to look at.
func Show(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*Checked, error) {
	c, src, err := checkerFor(ctx, h, s, agentName, o)
	if err != nil {
		return nil, err
	}
	place, unlock, err := c.openCheckPlace(ctx, src.state)
	var failed *CheckError
	switch {
	case errors.As(err, &failed): // the user looks at it all the same
		h.Notef("%v", failed)
		place = failed.Place
	case err != nil:
		return nil, err
	default:
		unlock()
	}
	return &Checked{Session: s.Name, Agent: agentName, Commit: src.state, Place: place}, nil
}

func checkerFor(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*checker, *source, error) {
	w, err := workOf(ctx, h, s, agentName, "check")
	if err != nil {
		return nil, nil, err
	}
	w.handed, w.turn = o.Handed, o.Turn
	src, err := w.lookAtSource(ctx)
	return &checker{work: w, fresh: o.Fresh}, src, err
}

// Broken is the turn that broke a check: the check fails at its end and passes at an earlier one.
type Broken struct {
	Session, Agent string
	Turn           int    // 0 if the end of the last turn passes
	Prompt         string // prompt of the turn
	Good           int    // last turn whose end passes, 0 for the base
	Unknown        string // turns between Good and Turn whose ends are unknown, such as "3-4"
	Runs           int    // how often the checks ran
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
	w, err := workOf(ctx, h, s, agentName, "bisect")
	if err != nil {
		return nil, err
	}
	c := &checker{work: w}
	if c.commands, err = someChecksFor(h, agentName, commands, "paw bisect --help"); err != nil {
		return nil, err
	}
	list, _, err := turns.List(ctx, h.Agent(s, w.Record).In(w.Repo))
	if err != nil {
		return nil, err
	}
	list.Turns, err = w.withoutRewound(ctx, list.Turns)
	if err != nil {
		return nil, err
	}
	ends := endsOf(w.Record.Base(), list.Turns)
	if len(ends) < 2 {
		return nil, errs.New(errs.NotFound, "%s: no turn has ended whose end is known", agentName).Hint("paw turns %s/%s", s.Name, agentName)
	}
	b := &Broken{Session: s.Name, Agent: agentName}
	fails := func(i int) (bool, error) {
		h.Sayf("%s: the end of turn %d", agentName, ends[i].number)
		b.Runs++
		err := c.run(ctx, ends[i].commit)
		if _, ok := errors.AsType[*CheckError](err); ok {
			return true, nil
		}
		return false, err
	}
	last := len(ends) - 1
	if bad, err := fails(last); err != nil || !bad {
		return b, err
	}
	if bad, err := fails(0); err != nil || bad {
		if err == nil {
			err = errs.New(errs.CheckFailed, "%s: fails at its base already, no turn broke it", w.name())
		}
		return nil, err
	}
	good, bad, err := narrow(0, last, fails)
	if err != nil {
		return nil, err
	}
	b.Turn, b.Prompt, b.Good = ends[bad].number, ends[bad].prompt, ends[good].number
	var unknown []turns.Turn
	for _, t := range list.Turns {
		if t.Number > b.Good && t.Number < b.Turn {
			unknown = append(unknown, t)
		}
	}
	b.Unknown = ranges(unknown)
	return b, nil
}

// withoutRewound returns the turns without those that a rewind took off the agent's chain, and notes
// their numbers.
func (w work) withoutRewound(ctx context.Context, list []turns.Turn) (left []turns.Turn, err error) {
	chain, err := turns.ChainOf(ctx, w.Agent)
	if err != nil {
		return nil, err
	}
	led, err := states.Merged(ctx, w.Repo.Objects(), chain.Now().Twin, turn.StatePrefix(w.Record.TurnSession))
	var rewound []turns.Turn
	for _, t := range list {
		if ref := turn.StateRef(w.Record.TurnSession, t.Number); chain.Refs[ref] != "" && !led[ref] {
			rewound = append(rewound, t)
		} else {
			left = append(left, t)
		}
	}
	if len(rewound) > 0 {
		w.App.Notef("%s: left out, taken off by a rewind: %s", w.name(), turnWords(ranges(rewound)))
	}
	return left, err
}

// endsOf returns the base and the known ends of finished turns, oldest first.
func endsOf(base string, list []turns.Turn) []end {
	ends := []end{{commit: base}}
	for _, t := range list {
		if t.State != turn.InProgress && t.After != "" {
			ends = append(ends, end{t.Number, t.After, oneLine(t.Prompt.Words())})
		}
	}
	return ends
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
	if b.Turn == 0 {
		return fmt.Sprintf("%s/%s: the end of its last turn passes, nothing is broken", b.Session, b.Agent)
	}
	which := fmt.Sprintf("turn %d broke it: %s", b.Turn, display.Graphemes.Cut(b.Prompt, titleWidth))
	if b.Unknown != "" {
		which = fmt.Sprintf("turn %d broke it, or %s, whose end is not known: %s", b.Turn, turnWords(b.Unknown), display.Graphemes.Cut(b.Prompt, titleWidth))
	}
	return fmt.Sprintf("%s\npaw rewind %s %d --session %s goes back to before it", which, b.Agent, b.Good, b.Session)
}
