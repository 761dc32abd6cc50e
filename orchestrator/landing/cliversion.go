package landing

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/turns"
)

// versionPatience limits how long a landing waits for the version of a CLI.
const versionPatience = 3 * time.Second

// cliVersion asks an agent's CLI for its version in the background. The returned function waits for
// the answer. It returns "" if the turns may have been made by another version, as after an update
// of the program.
func (w work) cliVersion(ctx context.Context) func(made []turns.Turn) string {
	unknown := func([]turns.Turn) string { return "" }
	if !slices.ContainsFunc(cli.LookedAts(), func(l cli.LookedAt) bool { return l.CLI == w.agent.CLI }) {
		return unknown // unknown programs may not have --version
	}
	cli, executable, err := w.home.ProgramOf(w.agent)
	if err != nil {
		return unknown
	}
	answer := make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, versionPatience)
		defer cancel()
		version, err := cli.Version(ctx, executable, w.home.Env)
		if err != nil {
			version = ""
		}
		answer <- oneLine(version)
	}()
	version := sync.OnceValue(func() string { return <-answer })
	return func(made []turns.Turn) string {
		if len(made) == 0 || !unchangedSince(executable, made[0].StartedAt) {
			return ""
		}
		return version()
	}
}

// unchangedSince reports whether neither a program nor the link to it was written after a time, as
// an update would do.
func unchangedSince(executable string, at time.Time) bool {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		if info, err := look(executable); err != nil || info.ModTime().After(at) {
			return false
		}
	}
	return true
}
