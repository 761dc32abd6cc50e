package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/home"
)

// app is what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	json           bool
	beforeExit     atomic.Pointer[func()] // called when a second signal ends paw at once
	killTurn       atomic.Pointer[func()] // kills the CLI of a headless turn; nil before one is begun
	colours        *bool                  // nil until asked
	colourFlag     string                 // auto, always or never
	noPager        bool
	notes          []string // for --json, see note
	command        string   // the last word of the command that runs
	forgiven       []string // mistakes in the configuration that were noted
}

// paw puts the orchestrator together for the directory the user stands in.
func (a *app) paw() (*home.Home, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	progress := a.stderr
	if a.json {
		progress = nil // what is said on the way is for people
	}
	h, err := home.New(dir, a.env, progress)
	if err != nil && (h == nil || !a.forgives(err)) {
		return nil, err
	}
	h.Note, h.Forgives = a.note, a.forgives
	a.setSteps(h)
	return h, nil
}

// hookPaw is paw for a hook: neither a mistake in the configuration nor a folder
// that is gone must cost turns. What it has to know is in PAW_LAUNCH.
func (a *app) hookPaw() (*home.Home, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	h, err := home.New(dir, a.env, nil)
	if h == nil {
		return nil, err
	}
	h.Forgives = func(error) bool { return true }
	a.setSteps(h)
	return h, nil
}

func (a *app) setSteps(h *home.Home) {
	if stepHook != nil {
		h.Step = stepHook
	}
}

// stepHook is set by tests only, to stop paw after a named step.
var stepHook func(name string)

func newRoot(a *app) *cobra.Command {
	asksVersion := false
	root := &cobra.Command{
		Use:           "paw [command]",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return a.unknownCommand(cmd, args)
			case asksVersion:
				a.printVersion()
				return nil
			}
			return runBare(cmd, a)
		},
	}
	root.Flags().BoolVar(&asksVersion, "version", false, "show the version of paw")
	root.PersistentFlags().StringVar(&a.colourFlag, "color", "auto", "auto, always or never")
	root.PersistentFlags().BoolVar(&a.noPager, "no-pager", false, "do not show long output through a pager")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.command = cmd.Name()
		if !slices.Contains([]string{"auto", "always", "never"}, a.colourFlag) {
			return usagef(cmd, "--color %s: it takes auto, always or never", a.colourFlag)
		}
		return nil
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.showHelp(cmd) })
	root.SetHelpCommand(newHelp(a))
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newStart(a), newStatus(a), newAttach(a), newNext(a), newRecover(a), newStop(a), newAdd(a), newRemove(a), newPurge(a),
		newLand(a), newCheck(a), newForecast(a), newBisect(a), newUpdate(a), newPR(a),
		newTurns(a), newLog(a), newDiff(a), newSeen(a), newRewind(a), newSend(a), newAnswer(a), newRun(a), newSpawn(a), newWait(a), newDone(a),
		newUI(a), newCLIs(a), newConfig(a), newDoctor(a), newPath(a), newSh(a), newTmux(a), newCompletion(a), newVersion(a), newAgent(), newHook(), newHandedHook(a), newDeliver(a), newFollow(a), newLook(a), newBorders(a), newNotify(a), newRestore(), newDemoAgent(),
		newAgents(),
	)
	for _, cmd := range root.Commands() {
		cmd.Aliases = aliases[cmd.Name()]
		if cmd.Args != nil {
			cmd.Args = asUsage(cmd.Args)
		}
	}
	return root
}

// asUsage turns cobra's errors about words into usage errors.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var own *usageError
		if err == nil || errors.As(err, &own) {
			return err
		}
		return wordsError(cmd, check, args)
	}
}

// runBare is paw without a command.
func runBare(cmd *cobra.Command, a *app) error {
	h, err := a.paw()
	if err != nil {
		return err
	}
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{})
	if err != nil || len(statuses)+len(problems) == 0 {
		if err != nil {
			return err
		}
		a.showHelp(cmd)
		fmt.Fprintln(a.stdout, "\nno session here")
		a.showStartHints(h)
		return nil
	}
	if a.canShowDesk() && len(statuses) > 0 {
		return a.openDesk(cmd.Context(), h, false)
	}
	return a.showStatus(h, statuses, problems)
}

// showStartHints says how to begin here, with a CLI that is installed.
func (a *app) showStartHints(h *home.Home) {
	hints := h.StartHints()
	if len(hints) == 1 {
		fmt.Fprintf(a.stdout, "  %s   begins one\n", hints[0])
		return
	}
	fmt.Fprintf(a.stdout, "  %s   installs one of the AI CLIs\n", hints[0])
	fmt.Fprintf(a.stdout, "  %s   tries paw without one\n", hints[1])
}

// addJSON gives a command the --json flag.
func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.json, "json", "j", false, "print one JSON object, for programs")
}

// exits is the EXIT STATUS section of a command's help.
func exits(text string, codes ...string) string {
	return text + "\n\nEXIT STATUS\n  " + strings.Join(append([]string{"0    ok", "1    error"}, codes...), "\n  ")
}

// The lines of EXIT STATUS sections.
const (
	exitUsage    = "2    bad flag, name or CLI"
	exitRefused  = "3    refused to protect work"
	exitChecks   = "9    a check failed"
	exitNotFound = "10   no such session or agent"
	exitLocked   = "11   locked by another paw or by a live agent"
	exitMissing  = "12   git, tmux or the CLI is missing or too old"
	exitBroken   = "130  interrupted"
)
