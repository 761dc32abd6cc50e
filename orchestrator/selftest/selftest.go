// Package selftest checks on this machine that paw and one installed CLI work together: `paw doctor
// --cli NAME`.
//
// It starts the CLI in a repository, a HOME and a tmux server of its own, with the scripted model
// of paw/orchestrator/cli/fakemodel on loopback in place of a vendor's server, and runs a series of
// plays with the use cases of package orchestrator. It does not touch the user's files, credentials
// and tmux servers, and leaves nothing behind.
package selftest

import (
	"cmp"
	"context"
	"errors"
	"time"

	"paw/orchestrator"
	"paw/orchestrator/cli/fakemodel"
	"paw/session"
)

// Limit bounds a trial, without its clean-up of a few seconds. It is six times the time of the
// slowest CLI on an idle machine.
const Limit = 6 * time.Minute

// Patience bounds the wait for each condition: on a busy machine the first answer of a CLI can take
// 95 seconds.
const Patience = 2 * time.Minute

// Options says what to try, and how.
type Options struct {
	CLI       string   // one of fakemodel.CLIs, or demo
	Command   []string // configured program of the CLI, nil for the usual one
	Env       []string // environment of the user
	Patience  time.Duration
	Introduce func(orchestrator.CLIInfo) // called once, with the CLI that is tried
	Begin     func(play string)          // called before each play
	End       func(Line)                 // called after each play
	Emergency func(end func())           // called with a function that ends all processes of the trial at once, for a program that is about to exit
}

// Line is the result of one play.
type Line struct {
	Name    string  `json:"name"`
	Result  Result  `json:"result"`
	Text    string  `json:"text"` // description of what was seen
	Seconds float64 `json:"seconds"`
}

// Result is the outcome of a play.
type Result string

// The results of a play.
const (
	OK       Result = "ok"
	Fail     Result = "FAIL"
	Unknown  Result = "unknown"   // paw itself reports the state as unknown
	NotTried Result = "not tried" // an earlier play failed
)

// CLIs returns the names of the CLIs that can be tried.
func CLIs() []string { return append([]string{"demo"}, fakemodel.CLIs...) }

// Run runs all plays and returns a line for each. The error says why there could be no trial, or
// that ctx was done. Run replaces the environment of this process, which must do nothing else.
func Run(ctx context.Context, o Options) (lines []Line, err error) {
	place, err := newPlace(ctx, o.CLI, o.Command, o.Env)
	if err != nil {
		return nil, err
	}
	defer place.remove()
	if o.Emergency != nil {
		o.Emergency(place.remove)
	}
	info, err := orchestrator.CLI(ctx, place.paw, o.CLI) // runs in the scratch environment, since a CLI writes into its HOME even to print its version
	if err != nil {
		return nil, err
	}
	o.Introduce(info)
	within, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	p := &player{place: place, cli: o.CLI, manners: fakemodel.MannersOf[o.CLI], patience: cmp.Or(o.Patience, Patience)}
	lines = p.playAll(within, o)
	return lines, ctx.Err()
}

// playAll runs the plays in order. After a failure later plays may be impossible; stop is always
// run.
func (p *player) playAll(ctx context.Context, o Options) []Line {
	var lines []Line
	usable := true
	for _, one := range plays {
		if ctx.Err() != nil && len(lines) > 0 {
			usable = false
		}
		line := Line{Name: one.name, Result: NotTried, Text: "a play before it failed"}
		if usable || one.always {
			o.Begin(one.name)
			line = p.play(ctx, one)
			if line.Result == Fail {
				usable = !one.vital && p.recovers(ctx)
			}
		}
		o.End(line)
		lines = append(lines, line)
	}
	return lines
}

func (p *player) play(ctx context.Context, one play) Line {
	began := time.Now()
	text, err := one.do(p, ctx)
	line := Line{Name: one.name, Result: OK, Text: text, Seconds: time.Since(began).Round(100 * time.Millisecond).Seconds()}
	if err == nil {
		return line
	}
	line.Result, line.Text = Fail, err.Error()
	var unseen unseenError
	if errors.As(err, &unseen) || p.hookless() && p.agent(context.WithoutCancel(ctx)).State == session.StateUnknown {
		line.Result = Unknown // paw itself reports the state as unknown
	}
	return line
}
