package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/queue"
	"paw/orchestrator/typing"
)

// inner makes a hidden command that paw or tmux starts in the background, with a fixed number of
// words.
func inner(use string, words int, do func(ctx context.Context, a *invocation, h *app.App, args []string) error) func(*invocation) *cobra.Command {
	return func(a *invocation) *cobra.Command {
		return &cobra.Command{Use: use, Hidden: true, Args: cobra.ExactArgs(words), RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.hookPaw()
			if err != nil {
				return err
			}
			return do(cmd.Context(), a, h, args)
		}}
	}
}

// listed makes a command that only the list of commands needs: run in main.go handles it without
// cobra.
func listed(use string) func(*invocation) *cobra.Command {
	return func(*invocation) *cobra.Command {
		return &cobra.Command{Use: use, Hidden: true, Run: func(*cobra.Command, []string) {}}
	}
}

var (
	// newLook looks once at the children that a parent waits for. A timer in tmux runs it every few
	// seconds.
	newLook = inner("__look SESSION PARENT TMUX-SESSION PANE MARK", 5, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		return children.Look(ctx, h, args[0], args[1], args[2:])
	})
	// newNotify tells the user of an event that a hook has reported.
	newNotify = inner("__notify SESSION AGENT EVENT TURN TIME", 5, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		return orchestrator.Notify(ctx, h, args[0], args[1], args[2:])
	})
	// newBorders shows the states of a session's agents on the borders of their panes, while
	// somebody looks at them.
	newBorders = inner("__borders SESSION", 1, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		return orchestrator.ShowStates(ctx, h, args[0])
	})
	// newDeliver types the results of children into their parent's pane, if they are due.
	newDeliver = inner("__deliver SESSION PARENT OCCASION HOOK", 4, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		hook, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return children.Deliver(ctx, h, args[0], args[1], live.Occasion(args[2]), hook)
	})
	// newFollow watches a CLI after the end of a turn: some CLIs go on although they have reported
	// an end.
	newFollow = inner("__follow SESSION AGENT HOOK", 3, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		hook, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return orchestrator.Follow(ctx, h, args[0], args[1], hook)
	})
	// newPump does what is due in a session's queue, at the end of a turn.
	newPump = inner("__pump SESSION HOOK", 2, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		hook, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return queue.Pump(ctx, h, args[0], hook)
	})
	// newKept types the prompts that are kept for an agent whose worktree is being set up.
	newKept = inner("__kept SESSION AGENT", 2, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		return typing.SendAfterSetUp(ctx, h, args[0], args[1])
	})
	// newHeld notifies the user of tasks that are held.
	newHeld = inner("__held SESSION IDS", 2, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		return queue.Tell(ctx, h, args[0], strings.Split(args[1], ","))
	})
	// newTick does what is due in a session's queue. A timer in tmux runs it.
	newTick = inner("__tick SESSION TMUX-SESSION PANE MARK", 4, func(ctx context.Context, _ *invocation, h *app.App, args []string) error {
		return queue.Tick(ctx, h, args[0], args[1], args[2], args[3])
	})
	// newUpload serves the repository to a fetch of another machine.
	newUpload = inner("__upload PROTOCOL", 1, func(ctx context.Context, a *invocation, h *app.App, args []string) error {
		return orchestrator.Upload(ctx, h, args[0], a.stdin, forChild(a.stdout))
	})
)

// launcher runs `paw __agent` in an agent's pane: it replaces this process with the agent's CLI by
// exec. It returns the exit code if that fails.
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

// maxPayload limits the input of a hook, which contains prompts and answers.
const maxPayload = 64 << 20

// hook runs `paw hook CLI EVENT`, which CLIs call. It prints at most an answer to a question, and paw always exits with 0:
// some CLIs give a hook's output to the model, and some stop the turn after an error. If the CLI
// would wait for the snapshot of a turn's end, another process makes the snapshot.
func (a *invocation) hook(ctx context.Context, args []string) {
	if len(args) != 2 {
		return
	}
	h, err := a.hookPaw()
	if err != nil {
		return
	}
	if args[1] == cli.StatusLine {
		a.statusLine(ctx, h, args[0])
		return
	}
	stdin, isFile := a.stdin.(*os.File)
	if isFile && orchestrator.AwaitsEnd(h, args[0], args[1]) {
		rest := []string{"__hook", args[0], args[1], strconv.Itoa(os.Getppid())}
		if h.Background().HandOver(rest, stdin) == nil {
			return
		}
	}
	a.takeHook(ctx, h, orchestrator.Report{CLI: args[0], Event: args[1], Caller: os.Getppid(), Answer: a.stdout})
}

// statusLine runs `paw hook CLI StatusLine`, which a CLI calls to get the text of its status line.
func (a *invocation) statusLine(ctx context.Context, h *app.App, cliName string) {
	if payload, err := io.ReadAll(io.LimitReader(a.stdin, maxPayload)); err == nil {
		orchestrator.StatusLine(ctx, h, cliName, payload, a.stdout)
	}
}

// handedHook runs `paw __hook CLI EVENT PID`, which does the work of a hook in the background. PID
// is the process that called the hook. The hook ends when this process closes its end of a pipe,
// once it holds the lock on the agent's turns.
func (a *invocation) handedHook(ctx context.Context, args []string) {
	letGo := os.NewFile(app.LetGo, "let go")
	defer letGo.Close()
	if len(args) != 3 {
		return
	}
	caller, err := strconv.Atoi(args[2])
	if err != nil {
		return
	}
	h, err := a.hookPaw()
	if err != nil {
		return
	}
	a.takeHook(ctx, h, orchestrator.Report{CLI: args[0], Event: args[1], Caller: caller, Taken: func() { letGo.Close() }})
}

func (a *invocation) takeHook(ctx context.Context, h *app.App, r orchestrator.Report) {
	payload, err := io.ReadAll(io.LimitReader(a.stdin, maxPayload))
	if err != nil {
		return
	}
	r.Payload = payload
	orchestrator.Hook(ctx, h, r)
}
