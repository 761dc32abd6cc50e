package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"paw/config/lazyregexp"
)

// ErrNotInstalled says that there is no git on PATH.
var ErrNotInstalled = errors.New("git: not found on PATH")

// Error describes a git command that failed.
type Error struct {
	Args     []string // arguments after "git"
	Dir      string
	ExitCode int    // -1 when git did not start, or was ended by a signal
	Stderr   string // complete standard error of git
	Err      error
}

// Error returns the subcommand and git's last message.
func (e *Error) Error() string {
	if e.CorruptIndex() {
		return fmt.Sprintf("%s: its index is corrupt (git %s: %s)", e.Dir, subcommand(e.Args), lastMessage(e.Stderr))
	}
	if e.ExitCode > 0 {
		if said := lastMessage(e.Stderr); said != "" {
			return fmt.Sprintf("git %s: %s", subcommand(e.Args), said)
		}
		return fmt.Sprintf("git %s: exit status %d", subcommand(e.Args), e.ExitCode)
	}
	if said := lastMessage(e.Stderr); said != "" {
		return fmt.Sprintf("git %s: %v: %s", subcommand(e.Args), e.Err, said)
	}
	return fmt.Sprintf("git %s: %v", subcommand(e.Args), e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether git says that the disk is full, for syscall.ENOSPC.
func (e *Error) Is(target error) bool {
	return target == syscall.ENOSPC && slices.ContainsFunc([]string{"No space left on device", "Disk quota exceeded", "Out of diskspace"}, e.Said)
}

// Said reports whether git's messages contain text. git runs with LC_ALL=C, so messages are not
// translated.
func (e *Error) Said(text string) bool { return strings.Contains(e.Stderr, text) }

// Said reports whether a git command failed with err, and printed at least one of the texts.
func Said(err error, texts ...string) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && slices.ContainsFunc(texts, failed.Said)
}

// CorruptIndex reports whether git could not read the checkout's index.
func (e *Error) CorruptIndex() bool {
	return e.Said("index file corrupt") || e.Said("index file smaller than expected")
}

// filterRefused matches git's message about a required filter that failed, in either direction.
var filterRefused = lazyregexp.New(`(?m)^fatal: .*: (?:clean|smudge) filter '?(.+?)'? failed$`)

// Trust returns the line with which git itself says that a repository of another user is trusted, ""
// for other errors.
func Trust(err error) string {
	failed, ok := errors.AsType[*Error](err)
	if !ok || !failed.Said("dubious ownership") {
		return ""
	}
	for line := range strings.Lines(failed.Stderr) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "git config --global --add safe.directory ") {
			return line
		}
	}
	return ""
}

// ExitCode returns the exit code of the git command behind err, -1 for any other error.
func ExitCode(err error) int {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.ExitCode
	}
	return -1
}

func subcommand(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		if args[i] == "worktree" && i+1 < len(args) {
			return "worktree " + args[i+1]
		}
		if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
	}
	return strings.Join(args, " ")
}

// lastMessage returns the last fatal or error line with the indented list after it, and with the
// output of a hook that refused, or the first line of a filter that failed. Without such a line it
// returns the last line that is no hint: git's first lines are often progress.
func lastMessage(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last := ""
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], " \r")
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			if said := strings.Join(strings.Fields(strings.Join(lines[:i], " ")), " "); said != "" && strings.Contains(line, "aborted by hook") {
				return line + ": " + said
			}
			if first := strings.TrimSpace(lines[0]); filterFailed().MatchString(line) && !strings.HasPrefix(first, "error: ") && !strings.HasPrefix(first, "fatal: ") {
				return line + ": " + first
			}
			for _, item := range lines[i+1:] {
				if !strings.HasPrefix(item, "\t") {
					break
				}
				line += " " + strings.TrimSpace(item)
			}
			return line
		}
		if last == "" && line != "" && !strings.HasPrefix(line, "hint:") {
			last = line
		}
	}
	return last
}

// filterFailed matches what git says of a filter that has failed; a process filter (gitattributes(5)) that died
// is "the remote end" to it.
var filterFailed = lazyregexp.New(`filter .* failed$|^fatal: the remote end hung up unexpectedly$`)

// ConflictError says what is in the way of an agent's worktree or branch. Hint is a command that
// helps, "" for none. If Branch cannot be used, Free is another name that can; else both are "". Folder is an existing
// branch whose name is the folder of Branch, and Aside another name for that one.
type ConflictError struct{ Agent, What, Hint, Branch, Free, Folder, Aside string }

func (e *ConflictError) Error() string {
	if e.Agent == "" {
		return e.What
	}
	return e.Agent + ": " + e.What
}

// Conflict makes a ConflictError whose What is formatted.
func Conflict(agent, hint, format string, args ...any) *ConflictError {
	return &ConflictError{Agent: agent, What: fmt.Sprintf(format, args...), Hint: hint}
}

// Quote quotes a path for a shell.
func Quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// RefusingFilter returns the name of the required filter (filter.NAME.required) whose failure made
// git fail, "" for another error, and the checkout that git ran in.
func RefusingFilter(err error) (name, checkout string) {
	if failed, ok := errors.AsType[*Error](err); ok {
		if found := filterRefused().FindStringSubmatch(failed.Stderr); found != nil {
			return found[1], failed.Dir
		}
	}
	return "", ""
}

// Unasked runs git and, if a required filter fails, again without requiring it: git then takes the
// file unconverted. This is for commands that must complete, since a filter can refuse both the
// files that a move writes and the ones before it.
func Unasked(run func(options []string) error) error {
	var options []string
	for {
		err := run(slices.Clone(options))
		name, _ := RefusingFilter(err)
		option := "filter." + name + ".required=false"
		if name == "" || slices.Contains(options, option) {
			return err
		}
		options = append(options, "-c", option)
	}
}
