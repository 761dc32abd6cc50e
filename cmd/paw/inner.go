package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/queue"
)

// inner is a command that nobody types: paw or tmux starts it, with so many words behind its name, and does not wait for it.
func inner(use string, words int, do func(ctx context.Context, h *app.App, args []string) error) func(*invocation) *cobra.Command {
	return func(a *invocation) *cobra.Command {
		return &cobra.Command{Use: use, Hidden: true, Args: cobra.ExactArgs(words), RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return do(cmd.Context(), h, args)
		}}
	}
}

// listed is a command that run in main.go starts: it is in the tree of commands, and no more.
func listed(use string) func(*invocation) *cobra.Command {
	return func(*invocation) *cobra.Command {
		return &cobra.Command{Use: use, Hidden: true, Run: func(*cobra.Command, []string) {}}
	}
}

var (
	// newLook looks at what a parent waits for, every few seconds as long as it waits.
	newLook = inner("__look SESSION PARENT TMUX-SESSION PANE MARK", 5, func(ctx context.Context, h *app.App, args []string) error {
		return children.Look(ctx, h, args[0], args[1], args[2:])
	})
	// newNotify tells the user of something that a hook has reported.
	newNotify = inner("__notify SESSION AGENT EVENT TURN TIME", 5, func(ctx context.Context, h *app.App, args []string) error {
		return orchestrator.Notify(ctx, h, args[0], args[1], args[2:])
	})
	// newBorders shows what the agents of a session do on the borders of their panes, while somebody looks.
	newBorders = inner("__borders SESSION", 1, func(ctx context.Context, h *app.App, args []string) error {
		return orchestrator.ShowStates(ctx, h, args[0])
	})
	// newFollow looks how a CLI goes on after an end that it may not keep to.
	newFollow = inner("__follow SESSION AGENT HOOK", 3, func(ctx context.Context, h *app.App, args []string) error {
		hook, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return orchestrator.Follow(ctx, h, args[0], args[1], hook)
	})
	// newPump moves the queue of a session on, at the end of a turn.
	newPump = inner("__pump SESSION HOOK", 2, func(ctx context.Context, h *app.App, args []string) error {
		hook, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return queue.Pump(ctx, h, args[0], hook)
	})
	// newHeld tells the user of tasks that are held.
	newHeld = inner("__held SESSION IDS", 2, func(ctx context.Context, h *app.App, args []string) error {
		return queue.Tell(ctx, h, args[0], strings.Split(args[1], ","))
	})
	// newTick moves the queue of a session on when time has passed.
	newTick = inner("__tick SESSION TMUX-SESSION PANE MARK", 4, func(ctx context.Context, h *app.App, args []string) error {
		return queue.Tick(ctx, h, args[0], args[1], args[2], args[3])
	})
)

// newDeliver tells a parent how its children ended, if that is due.
func newDeliver(a *invocation) *cobra.Command {
	var c live.Claim
	cmd := inner("__deliver SESSION PARENT", 2, func(ctx context.Context, h *app.App, args []string) error {
		return children.Deliver(ctx, h, args[0], args[1], c)
	})(a)
	f := cmd.Flags()
	f.BoolVar(&c.OwnEnd, "own-end", false, "the parent's own turn has ended")
	f.StringVar(&c.Leaving, "leaving", "", "a child whose CLI is about to exit")
	f.IntVar(&c.Hook, "hook", 0, "process that has to end first")
	return cmd
}

// launcher runs in an agent's pane and replaces itself with the CLI (exec). It returns an exit code where that fails.
func (a *invocation) launcher(args []string) int {
	if len(args) != 4 {
		a.printError(errs.New(errs.Usage, "__agent: it takes SESSION AGENT GENERATION FILE"))
		return int(errs.Usage)
	}
	generation, err := strconv.Atoi(args[2])
	if err != nil {
		a.printError(errs.New(errs.Usage, "generation %s: not a number", args[2]))
		return int(errs.Usage)
	}
	code, err := launch.RunAgent(args[0], args[1], generation, args[3], stepHook)
	a.printError(err)
	return code
}
