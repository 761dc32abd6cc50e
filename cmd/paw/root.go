package main

import (
	"io"
	"os"
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
	notes          []string               // for --json, see note
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
	if err != nil {
		return nil, err
	}
	h.Note = a.note
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
	root := &cobra.Command{
		Use:   "paw [command]",
		Short: "Run several AI coding CLIs side by side on one repository",
		Long: `paw gives each AI coding CLI a git branch, a worktree and a tmux pane of its own,
shows who is running and who waits for you, and brings everything back after a crash.

Without a command it is paw status where a session exists.`,
		Example: `  paw start --cli claude,codex    two branches, two worktrees, two panes, attached
  paw status                      who is running and who waits
  paw turns                       what each has done, turn by turn
  paw diff claude                 the changes, as a patch
  paw recover                     after a crash or reboot: same panes, same conversations
  paw stop                        everything off; branches, worktrees and conversations stay`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return runBare(cmd, a)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef(cmd, "%s", err.Error())
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newStart(a), newStatus(a), newAttach(a), newRecover(a), newStop(a), newAdd(a), newRemove(a), newPurge(a),
		newTurns(a), newLog(a), newDiff(a), newRewind(a), newSend(a), newRun(a), newSpawn(a), newWait(a), newDone(a),
		newCLIs(a), newConfig(a), newDoctor(a), newCompletion(a), newVersion(a), newAgent(a), newHook(a), newDeliver(a), newFollow(a), newLook(a), newBorders(a), newDemoAgent(),
		newAgents(),
	)
	for _, cmd := range root.Commands() {
		if cmd.Args != nil {
			cmd.Args = asUsage(cmd.Args)
		}
	}
	return root
}

// asUsage turns cobra's errors about arguments into usage errors.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef(cmd, "%s", err.Error())
		}
		return nil
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	message := "unknown command " + name
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(name); len(near) > 0 {
		message += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return usagef(root, "%s", message)
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
		return cmd.Help()
	}
	return a.showStatus(h, statuses, problems)
}

// addJSON gives a command the --json flag.
func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object, for programs")
}

// exits is the EXIT STATUS section of a command's help.
func exits(text string, codes ...string) string {
	return text + "\n\nEXIT STATUS\n  " + strings.Join(append([]string{"0    ok", "1    error"}, codes...), "\n  ")
}

// The lines of EXIT STATUS sections.
const (
	exitUsage    = "2    bad flag, name or CLI"
	exitRefused  = "3    refused to protect work"
	exitNotFound = "10   no such session or agent"
	exitLocked   = "11   locked by another paw or by a live agent"
	exitMissing  = "12   git, tmux or the CLI is missing or too old"
	exitBroken   = "130  interrupted"
)
