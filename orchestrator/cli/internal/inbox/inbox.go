// Package inbox is a channel into a CLI that runs code of paw: paw writes a file, and that code takes it away.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/cli"
)

// patience is how long a prompt may lie there, at a load of many times the cores. pi takes none while it shortens a
// conversation.
const patience = 30 * time.Second

// Channel is the way in which paw gives prompts to a launch: one file each, which the CLI renames.
type Channel struct {
	cli.NoChannel
	CLI     string
	Listens string // file that is empty until the CLI listens, and has the CLI's pid then
	Path    string // file in which paw puts a prompt, or nothing to see whether it is taken
}

// Of returns the channel of a launch.
func Of(s cli.Spec, name string) Channel {
	return Channel{CLI: name, Listens: filepath.Join(s.StateDir, name+"-listens"), Path: filepath.Join(s.StateDir, name+"-prompt")}
}

// Files returns both files, empty, so that a launch takes nothing of an earlier one.
func (c Channel) Files() []cli.File { return []cli.File{{Path: c.Listens}, {Path: c.Path}} }

// Alive reports whether the CLI that has listened still runs.
func (c Channel) Alive() bool {
	text, _ := os.ReadFile(c.Listens)
	pid, err := strconv.Atoi(string(text))
	return err == nil && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// Open gives the CLI an empty prompt, which does nothing.
func (c Channel) Open(ctx context.Context) bool {
	return c.Alive() && c.Put(ctx, "") == nil
}

// Submit gives a prompt to the CLI, which begins with it or adds it to the running turn. A menu or a half-typed
// text stays as it is.
func (c Channel) Submit(ctx context.Context, prompt string, _ cli.Screen) error {
	return c.Put(ctx, prompt)
}

// Put waits until the CLI has taken a text, or takes it back.
func (c Channel) Put(ctx context.Context, text string) error {
	if err := disk.ReplaceSoon(c.Path, []byte(text)); err != nil {
		return errors.Join(cli.ErrNotHandedOver, err)
	}
	poll.Until(ctx, poll.Tick, patience, func() bool { return !disk.Exists(c.Path) || !c.Alive() })
	switch err := os.Remove(c.Path); {
	case err == nil:
		return fmt.Errorf("%w: %s does not take it", cli.ErrNotHandedOver, c.CLI)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// pause is how often Listen looks.
const pause = 50 * time.Millisecond

// Listen calls take with each text that paw puts into the channel, until ctx is done. It is for a CLI of paw's own. Who renames the
// file first has the text: Put takes one back that waits for too long.
func (c Channel) Listen(ctx context.Context, take func(context.Context, []byte)) {
	_ = os.WriteFile(c.Listens, []byte(strconv.Itoa(os.Getpid())), 0o600)
	for taken := c.Path + ".taken"; ctx.Err() == nil; poll.Sleep(ctx, pause) {
		if os.Rename(c.Path, taken) == nil {
			text, _ := os.ReadFile(taken)
			_ = os.Remove(taken)
			take(ctx, text)
		}
	}
}
