package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"paw/config"
	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// invocation is one run of paw: its streams, the words that were typed, and what the commands
// share.
type invocation struct {
	printer
	stdin      io.Reader
	beforeExit atomic.Pointer[func()]                   // called when a second signal ends paw at once
	killTurn   atomic.Pointer[func()]                   // kills the CLI of a headless turn; nil while none runs
	commands   func(*invocation, string) *cobra.Command // newRoot; the desk runs commands with it
	typed      []string                                 // command line without paw itself
	command    string                                   // name of the running command
	ran        *cobra.Command                           // the running command
	far        *farWork                                 // agents of a host whose work the command needs here; nil for none
	helpFailed error                                    // error of --help, because cobra's help functions return none
	forgiven   []string                                 // mistakes in the configuration in spite of which the command goes on
}

// farWork names agents of a host whose work a command lands, forecasts or checks on this machine.
type farWork struct {
	host    hosts.Host
	words   []string // AGENT or AGENT@N, without HOST:
	command []string // words behind the agents: the command of paw check
}

// paw opens the configuration and the records for the current directory, and notes a mistake in the
// repository's configuration.
func (a *invocation) paw() (*app.App, error) {
	h, err := a.untold()
	if err == nil {
		h.TellMistake()
	}
	return h, err
}

// untold is like paw, without the note about the repository's configuration. It is for code that
// runs before the command itself.
func (a *invocation) untold() (*app.App, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, a.stranded(err)
	}
	progress := a.stderr
	if a.json {
		progress = nil // progress is for people
	}
	h, err := app.New(dir, a.env, progress)
	if err != nil && (h == nil || !a.forgives(err)) {
		return nil, err
	}
	h.Note, h.Forgives, h.Typed = a.note, a.forgives, a.typedFor
	if a.ran != nil {
		dry := a.ran.Flags().Lookup("dry-run")
		h.DryRun = dry != nil && dry.Value.String() == "true"
	}
	a.setSteps(h)
	return h, nil
}

// stranded returns an error for a current directory that was deleted. Its hint leads to the nearest
// parent that exists.
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

func (a *invocation) withHome(do func(cmd *cobra.Command, h *app.App, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		h, err := a.paw()
		if err != nil {
			return err
		}
		return do(cmd, h, args)
	}
}

// hookPaw is paw for hooks and background processes: a mistake in the configuration or a deleted
// directory must not lose turns. PAW_LAUNCH names the agent.
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

// stepHook stops paw after a named step. Only tests set it.
var stepHook func(name string)

// Commands in starting need the user's whole configuration: an agent that starts with a part of it
// is not what the user has asked for. Commands in looking only look, or end agents and delete
// nothing, and need none of it.
var (
	starting = []string{"start", "add", "recover", "spawn", "run"}
	looking  = []string{"paw", "status", "attach", "turns", "log", "diff", "path", "sh", "clis", "wait", "done", "stop", "doctor"}
)

// forgives reports whether the running command goes on in spite of a mistake in the configuration,
// and notes that mistake once.
func (a *invocation) forgives(err error) bool {
	var mistake *config.Error
	if !errors.As(err, &mistake) || slices.Contains(starting, a.command) && !mistake.InRepository {
		return false
	}
	text := mistake.Error()
	if hint := mistake.Hint(); hint != "" && mistake.Unknown {
		text += " (" + hint + ")"
	}
	switch {
	case mistake.Unknown && mistake.InRepository:
		text += "; the key is left out"
	case mistake.Unknown:
		text += "; nothing is started until this is put right"
	case mistake.InRepository:
		text += "; the settings of the repository are left out"
	case slices.Contains(looking, a.command):
		text += "; the configuration is left out"
	default:
		return false
	}
	if !slices.Contains(a.forgiven, text) {
		a.forgiven = append(a.forgiven, text)
		if a.command != "doctor" { // doctor lists it among its findings
			fmt.Fprintf(a.stderr, "paw: note: %s\n", display.Printable(text)) // on standard error also with --json
		}
	}
	return true
}

// refuseEmpty refuses flags that were given without a value.
func refuseEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if flag := cmd.Flag(name); flag.Changed && flag.Value.String() == "" {
			return usagef(cmd, "--%s: is empty", name)
		}
	}
	return nil
}

// alone refuses other flags beside a flag that makes a command do something else, except for those
// in with and those that say where to look and how to print.
func alone(cmd *cobra.Command, flag string, with ...string) error {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	with = append(with, flag, "session", "json")
	var err error
	cmd.LocalFlags().VisitAll(func(other *pflag.Flag) {
		if err == nil && other.Changed && !slices.Contains(with, other.Name) {
			err = usagef(cmd, "--%s and --%s exclude each other", flag, other.Name)
		}
	})
	return err
}
