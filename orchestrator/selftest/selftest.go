// Package selftest proves on this machine that paw and one installed CLI understand each other: `paw doctor --cli NAME`.
//
// It starts the CLI in a repository, a HOME and a tmux server of its own, with the scripted model of
// paw/orchestrator/cli/fakemodel on loopback in place of a vendor's, and plays what a day brings. It uses the use cases
// of package orchestrator as they are. The user's files, credentials and tmux servers are not touched, and nothing is left.
package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"paw/orchestrator"
	"paw/orchestrator/cli/fakemodel"
	"paw/session"
)

// Limit bounds a trial, without its end, which takes some seconds at most. It is six times what the slowest CLI takes on a machine
// that does nothing else.
const Limit = 6 * time.Minute

// Patience is how long each condition is waited for: where many programs run, the first answer of a CLI alone can take 95 seconds.
const Patience = 2 * time.Minute

// Options says what to try, and how.
type Options struct {
	CLI       string   // one of fakemodel.CLIs, or demo
	Command   []string // the configured program of the CLI, nil for the usual one
	Env       []string // the user's environment
	Patience  time.Duration
	Introduce func(orchestrator.CLIInfo) // called once, with what is going to be tried
	Begin     func(play string)          // called before each play
	End       func(Line)                 // called after it
	Emergency func(end func())           // called with what ends at once all that was started, for a program that is about to exit
}

// Line is what became of one play.
type Line struct {
	Name    string  `json:"name"`
	Result  Result  `json:"result"`
	Text    string  `json:"text"` // what was seen
	Seconds float64 `json:"seconds"`
}

// Result is the outcome of one play.
type Result string

// The results of a play.
const (
	OK       Result = "ok"
	Fail     Result = "FAIL"
	Unknown  Result = "unknown"   // paw says itself that it cannot tell
	NotTried Result = "not tried" // a play before it failed
)

// CLIs are the names of the CLIs that can be tried.
func CLIs() []string { return append([]string{"demo"}, fakemodel.CLIs...) }

// Run plays everything and returns a line for each play. The error says why there could be no trial, or that ctx was
// done. It replaces the environment of this process by that of the scratch place, and is for a process that does nothing
// else.
func Run(ctx context.Context, o Options) (lines []Line, err error) {
	place, err := newPlace(ctx, o)
	if err != nil {
		return nil, err
	}
	defer place.remove()
	if o.Emergency != nil {
		o.Emergency(place.remove)
	}
	info, err := orchestrator.CLI(ctx, place.paw, o.CLI) // here: also for its version a CLI writes into its HOME
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

// playAll plays one play after the other. Some need those before; stop is played in any case.
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

// play plays one of them.
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
		line.Result = Unknown // paw says so itself
	}
	return line
}

// unseenError says what paw calls unknown.
type unseenError string

func (e unseenError) Error() string { return string(e) }

// hookless reports whether the CLI takes paw's hooks from root's files only, and so from nobody here.
func (p *player) hookless() bool { return p.cli == "gemini" && os.Geteuid() != 0 }

func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }
