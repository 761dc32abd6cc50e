package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

// usagef is a command line that cannot be, with the help of its command as the hint.
func usagef(cmd *cobra.Command, format string, args ...any) *errs.Error {
	return errs.New(errs.Usage, format, args...).Hint("%s --help", cmd.CommandPath())
}

// exitStatus ends paw with a code when everything has been said already.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// printError shows err as "paw: error: ..." with its hints or, for programs, as
// one JSON object.
func (a *invocation) printError(err error) {
	var status exitStatus
	if errors.As(err, &status) {
		return
	}
	message, hints := strings.TrimSpace(err.Error()), hintsOf(err)
	if line := a.instead(err); line != "" {
		hints = append([]string{line}, hints...)
	}
	if a.json {
		view := map[string]any{"version": 1, "error": message, "hints": hints, "exit_code": exitCode(err)}
		if len(a.notes) > 0 {
			view["notes"] = a.notes
		}
		_ = writeJSON(a.stderr, view)
		return
	}
	a.sayError(message, hints)
}

// sayError shows an error to people.
func (a *invocation) sayError(message string, hints []string) {
	fmt.Fprintf(a.stderr, "%s %s\n", a.paintError("paw: error:", display.Red+";1"), display.Printable(message))
	for _, hint := range hints {
		fmt.Fprintf(a.stderr, "%s %s\n", a.paintError("paw: hint:", display.Cyan), hint)
	}
}

// paintError is paint for standard error.
func (a *invocation) paintError(text, code string) string {
	if !wantsColour(a.colourFlag, isTerminal(a.stderr), func(name string) string { return lookUp(a.env, name) }) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// printProblems shows what could not be read, beside what could.
func (a *invocation) printProblems(problems []error) {
	for _, problem := range problems {
		a.printError(problem)
	}
}

func hintsOf(err error) []string {
	if line := app.NewIndex(err); line != "" {
		return []string{line}
	}
	var e *errs.Error
	if errors.As(err, &e) && len(e.Hints) > 0 {
		return append([]string{}, e.Hints...)
	}
	for _, line := range []string{freeSpace(err), app.RefusingHook(err)} {
		if line != "" {
			return []string{line}
		}
	}
	var c *config.Error
	if errors.As(err, &c) && c.Hint() != "" {
		return []string{c.Hint()}
	}
	return []string{}
}

// freeSpace is where to look after a file could not be written, "" for other errors.
func freeSpace(err error) string {
	var file *fs.PathError
	switch {
	case !errors.As(err, &file):
		return ""
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "df -h " + errs.Quote(filepath.Dir(file.Path))
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "ls -ld " + errs.Quote(filepath.Dir(file.Path))
	}
	return ""
}

// exitCode maps an error to the documented exit codes (docs/reference.md).
func exitCode(err error) int {
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	var e *errs.Error
	if errors.As(err, &e) {
		return int(e.Kind)
	}
	return int(errs.Failed)
}
