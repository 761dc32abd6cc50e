package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator/errs"
)

// usagef returns a usage error whose hint is the help of the command.
func usagef(cmd *cobra.Command, format string, args ...any) *errs.Error {
	return errs.New(errs.Usage, format, args...).Hint("%s --help", cmd.CommandPath())
}

// exitStatus ends paw with an exit code and prints nothing, because everything was printed before.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// printError prints err as "paw: error: ..." with its hints or, with --json, as one JSON object.
func (a *invocation) printError(err error) {
	if _, ok := errors.AsType[exitStatus](err); ok {
		return
	}
	message, hints := strings.TrimSpace(err.Error()), suggester{a}.hintsOf(err)
	if a.json {
		notes := absent
		if len(a.notes) > 0 {
			notes = a.notes
		}
		_ = writeJSON(a.stderr, object{{"error", message}, {"exit_code", exitCode(err)}, {"hints", hints}, {"notes", notes}, {"version", 1}})
		return
	}
	a.sayError(message, hints)
}

// asksJSON reports whether --json is among the words of a command line. It is for one that could not
// be parsed: the parser stops at the first mistake, and --json may stand behind it.
func asksJSON(words []string) bool {
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[:i]
	}
	return slices.ContainsFunc(words, func(word string) bool { return word == "--json" || word == "--json=true" || word == "-j" })
}

func (p *printer) sayError(message string, hints []string) {
	const begin = "paw: error:"
	fmt.Fprintf(p.stderr, "%s %s\n", p.paintError(begin, display.Red+";1"), p.said(begin, display.Printable(message)))
	for _, hint := range hints {
		fmt.Fprintf(p.stderr, "%s %s\n", p.paintError("paw: hint:", display.Cyan), hint)
	}
}

// printProblems prints what could not be read, beside the answer about the rest.
func (a *invocation) printProblems(problems []error) {
	for _, problem := range problems {
		a.printError(problem)
	}
}

// unread returns the error with which a command ends that could not read everything. With --json
// the answer has the problems, and there is no error.
func (p *printer) unread(problems []error) error {
	if len(problems) == 0 || p.json {
		return nil
	}
	return exitStatus(errs.Failed)
}

// exitCode maps an error to the documented exit codes (paw help exit-codes).
func exitCode(err error) int {
	if status, ok := errors.AsType[exitStatus](err); ok {
		return int(status)
	}
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return int(e.Kind)
	}
	return int(errs.Failed)
}

// exits appends the section EXIT STATUS to the help of a command.
func exits(text string, codes ...string) string {
	return text + "\n\nEXIT STATUS\n  " + strings.Join(append([]string{"0    ok", "1    error"}, codes...), "\n  ")
}

// Lines of EXIT STATUS sections.
const (
	exitUsage    = "2    bad flag, name or CLI"
	exitRefused  = "3    refused to protect work"
	exitChecks   = "9    a check failed"
	exitNotFound = "10   no such session or agent"
	exitLocked   = "11   locked by another paw or by a live agent"
	exitMissing  = "12   git, tmux or the CLI is missing or too old"
	exitBroken   = "130  interrupted"
)

// exitPipe is the exit code of a program that SIGPIPE ends: 128 + SIGPIPE, as in shells.
const exitPipe = 141

// exitInterrupted is the exit code after Ctrl-C: 128 + SIGINT, as in shells.
const exitInterrupted = 130
