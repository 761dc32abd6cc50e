package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// exitInterrupted is the exit code after Ctrl-C, 128 + SIGINT as shells count it.
const exitInterrupted = 130

// oneInterrupt is how far apart signals are that mean the same interrupt: timeout(1)
// signals its child and then the child's process group.
const oneInterrupt = 100 * time.Millisecond

// handleSignals decides what signals mean for this paw. A launcher must die of
// them like the CLI it is about to become; a hook has a turn to write down, which
// the end of its terminal must not cut; everything else is interrupted.
func handleSignals(command string, cancel context.CancelFunc, a *invocation) <-chan struct{} {
	switch command {
	case "__agent":
		return nil
	case "hook", "__hook":
		signal.Ignore(os.Interrupt, syscall.SIGHUP)
		return nil
	}
	return watchInterrupts(cancel, a)
}

// watchInterrupts cancels the work on the first Ctrl-C, so that it can be undone
// or left recoverable, and ends paw on the second. A headless turn is closed
// however many come: the second only kills its CLI. What paw was started to ignore,
// as by nohup, stays ignored.
func watchInterrupts(cancel context.CancelFunc, a *invocation) <-chan struct{} {
	heeded := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	interrupted := make(chan struct{})
	if len(heeded) == 0 {
		return interrupted // Notify without signals means all of them
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, heeded...)
	go func() {
		<-signals
		first := time.Now()
		close(interrupted)
		cancel()
		for range signals {
			if time.Since(first) < oneInterrupt {
				continue
			}
			if kill := a.killTurn.Load(); kill != nil {
				(*kill)()
				continue
			}
			if do := a.beforeExit.Load(); do != nil {
				(*do)()
			}
			os.Exit(exitInterrupted)
		}
	}()
	return interrupted
}
