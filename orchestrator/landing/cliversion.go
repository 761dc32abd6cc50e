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

// versionPatience is how long a landing waits for a CLI that is asked for its version.
const versionPatience = 3 * time.Second

// cliVersion asks the program of an agent's CLI for its version, beside what goes on meanwhile. It returns what waits for the
// answer: the version with which turns were made, "" where that is not certain, such as after an update of the program.
func (w work) cliVersion(ctx context.Context) func(made []turns.Turn) string {
	unknown := func([]turns.Turn) string { return "" }
	if !slices.ContainsFunc(cli.LookedAts(), func(l cli.LookedAt) bool { return l.CLI == w.agent.CLI }) {
		return unknown // another program may not know the question
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

// unchangedSince reports whether neither a program nor the link to it was written since: an update leaves one of them new.
func unchangedSince(executable string, at time.Time) bool {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		if info, err := look(executable); err != nil || info.ModTime().After(at) {
			return false
		}
	}
	return true
}
