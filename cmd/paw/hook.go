package main

import (
	"context"
	"io"
	"os"
	"strconv"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
)

// maxPayload limits the input of a hook, which contains prompts and answers.
const maxPayload = 64 << 20

// hook runs `paw hook CLI EVENT`, which CLIs call. It prints nothing, and paw always exits with 0:
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
	a.takeHook(ctx, h, orchestrator.Report{CLI: args[0], Event: args[1], Caller: os.Getppid()})
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
