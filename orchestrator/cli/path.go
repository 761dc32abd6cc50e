package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/git"

	"golang.org/x/sys/unix"
)

// LookPath finds program on the PATH of env, not on that of paw, and returns an absolute path. Relative entries of PATH
// are skipped: they would run a program out of whatever repository paw stands in. A program that is not there is
// ErrNotInstalled.
func LookPath(program string, env []string) (string, error) {
	if strings.ContainsRune(program, filepath.Separator) {
		path, err := filepath.Abs(program)
		if err != nil {
			return "", fmt.Errorf("%s: %w", program, err)
		}
		if !executable(path) {
			return "", fmt.Errorf("%s: %w", program, ErrNotInstalled)
		}
		return path, nil
	}
	if program != "" {
		for _, dir := range filepath.SplitList(Getenv(env, "PATH")) {
			if path := filepath.Join(dir, program); filepath.IsAbs(dir) && executable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w", program, ErrNotInstalled)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}

// Scrub returns env without the variables that would tie a CLI to the place paw was called from: those of git, and
// ChildSession. TMUX stays.
func Scrub(env []string) []string {
	return Without(git.Unbound(env), []string{ChildSession})
}

// Getenv is the last value of key in env, as a process sees it; nil is paw's own environment.
func Getenv(env []string, key string) string {
	if env == nil {
		return os.Getenv(key)
	}
	for _, entry := range slices.Backward(env) {
		if name, value, _ := strings.Cut(entry, "="); name == key {
			return value
		}
	}
	return ""
}

// Without is env without the variables of these names.
func Without(env, names []string) []string {
	kept := make([]string, 0, len(env))
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(names, name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// Folder is where a CLI keeps its files: the value of variable, else HOME and below.
func Folder(env []string, variable string, below ...string) string {
	if dir := Getenv(env, variable); variable != "" && dir != "" {
		return dir
	}
	return filepath.Join(append([]string{Getenv(env, "HOME")}, below...)...)
}

// Resolved is path without symlinks, or path itself where it is gone: CLIs know their directory by what getcwd(3) says.
func Resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// environment is env, or a copy of paw's own where it is nil.
func environment(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// GlobQuote makes filepath.Glob take a path literally.
func GlobQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// ChildSession is set for everything that claude runs, so also for a tmux server started from there. An interactive
// claude that has it writes neither transcript nor registry and cannot be resumed.
const ChildSession = "CLAUDE_CODE_CHILD_SESSION"
