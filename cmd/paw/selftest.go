package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/selftest"
)

// trialPatience is set by tests only, for CLIs that are broken on purpose.
var trialPatience time.Duration

// try plays a day's work with an installed CLI, and prints what works.
func (a *invocation) try(cmd *cobra.Command, h *app.App, cli string) error {
	if !slices.Contains(selftest.CLIs(), cli) {
		return usagef(cmd, "--cli %s: it is one of %s", cli, strings.Join(selftest.CLIs(), ", "))
	}
	live := isTerminal(a.stdout) && !a.json
	var info orchestrator.CLIInfo
	began := time.Now()
	lines, err := selftest.Run(cmd.Context(), selftest.Options{
		CLI: cli, Command: h.Config.CLIs[cli].Command, Env: a.env, Patience: trialPatience,
		Introduce: func(i orchestrator.CLIInfo) {
			if info = i; !a.json {
				a.printTried(i)
			}
		},
		Begin: func(play string) {
			if live {
				fmt.Fprintf(a.stdout, "...        %s", play)
			}
		},
		End: func(line selftest.Line) {
			if live {
				fmt.Fprint(a.stdout, "\r\x1b[K")
			}
			if !a.json {
				a.printPlay(line)
			}
		},
		Emergency: func(end func()) { a.beforeExit.Store(&end) },
	})
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(trialView(info, lines, time.Since(began))); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(lines, func(line selftest.Line) bool { return line.Result == selftest.Fail }) {
		return exitStatus(errs.Failed)
	}
	return nil
}

func (a *invocation) printTried(info orchestrator.CLIInfo) {
	fmt.Fprintf(a.stdout, "%s %s  %s\n", info.Name, display.FirstLine(info.Version), info.Path)
	if note := info.VersionNote(); note != "" {
		fmt.Fprintln(a.stdout, note)
	}
}

var playColours = map[selftest.Result]string{selftest.OK: "active", selftest.Fail: "error", selftest.Unknown: "unknown", selftest.NotTried: "unknown"}

func (a *invocation) printPlay(line selftest.Line) {
	result := fmt.Sprintf("%-9s", line.Result)
	fmt.Fprintf(a.stdout, "%s  %-15s  %s\n", a.colour(result, playColours[line.Result]), line.Name, display.OneLine(line.Text))
}

type trialJSON struct {
	Version    int             `json:"version"`
	CLI        string          `json:"cli"`
	Path       string          `json:"path"`
	CLIVersion *string         `json:"cli_version"`
	LookedAt   *lookedAtJSON   `json:"looked_at"`
	Seconds    float64         `json:"seconds"`
	Plays      []selftest.Line `json:"plays"`
}

func trialView(info orchestrator.CLIInfo, lines []selftest.Line, took time.Duration) trialJSON {
	return trialJSON{
		Version: 1, CLI: info.Name, Path: info.Path, CLIVersion: orNull(info.Version), LookedAt: lookedAtView(info),
		Seconds: took.Round(100 * time.Millisecond).Seconds(), Plays: lines,
	}
}
