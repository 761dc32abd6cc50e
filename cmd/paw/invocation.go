package main

import (
	"io"
	"os"
	"path/filepath"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"sync/atomic"

	"github.com/spf13/cobra"
)

// invocation is one run of paw: what it was typed with, the terminal it talks to, and what has come up on the way.
type invocation struct {
	printer
	stdin      io.Reader
	beforeExit atomic.Pointer[func()]                   // called when a second signal ends paw at once
	killTurn   atomic.Pointer[func()]                   // kills the CLI of a headless turn; nil before one is begun
	commands   func(*invocation, string) *cobra.Command // newRoot, for who runs commands itself
	typed      []string                                 // the words behind paw
	command    string                                   // the last word of the command that runs
	ran        *cobra.Command                           // that runs
	far        *farWork                                 // agents of a host that the command works on here, nil for none
	helpFailed error                                    // of --help, which returns none
	forgiven   []string                                 // mistakes in the configuration that stop nothing
}

// paw puts the orchestrator together for the directory the user stands in, and tells of a mistake in the repository's configuration.
func (a *invocation) paw() (*app.App, error) {
	h, err := a.untold()
	if err == nil {
		h.TellMistake()
	}
	return h, err
}

// untold is paw without a word about the repository's configuration: for what runs before the command itself.
func (a *invocation) untold() (*app.App, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, a.stranded(err)
	}
	progress := a.stderr
	if a.json {
		progress = nil // what is said on the way is for people
	}
	h, err := app.New(dir, a.env, progress)
	if err != nil && (h == nil || !a.forgives(err)) {
		return nil, err
	}
	h.Note, h.Forgives = a.note, a.forgives
	a.setSteps(h)
	return h, nil
}

// stranded is the error of a command that is typed in a folder which is gone, with the nearest one that is there.
func (a *invocation) stranded(err error) error {
	dir := (&app.App{Env: a.env}).Getenv("PWD")
	if !filepath.IsAbs(dir) {
		return err
	}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if _, statErr := os.Stat(dir); statErr == nil {
			break
		}
	}
	return errs.New(errs.Failed, "the folder that you stand in is gone").Hint("cd %s", errs.Quote(dir))
}

// withHome is the work of a command that does something with the home of this place.
func (a *invocation) withHome(do func(cmd *cobra.Command, h *app.App, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		h, err := a.paw()
		if err != nil {
			return err
		}
		return do(cmd, h, args)
	}
}

// hookPaw is paw for a hook: neither a mistake in the configuration nor a folder
// that is gone must cost turns. What it has to know is in PAW_LAUNCH.
func (a *invocation) hookPaw() (*app.App, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	h, err := app.New(dir, a.env, nil)
	if h == nil {
		return nil, err
	}
	h.Forgives = func(error) bool { return true }
	a.setSteps(h)
	return h, nil
}

func (a *invocation) setSteps(h *app.App) {
	if stepHook != nil {
		h.Step = stepHook
	}
}

// stepHook is set by tests only, to stop paw after a named step.
var stepHook func(name string)
