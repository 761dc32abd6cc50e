package pi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/cli"
)

// patience is how long the extension may take to take a prompt, at a load of many times the cores. It takes none while
// pi shortens a conversation.
const patience = 30 * time.Second

// channel is the way in which paw gives prompts to the extension of a launch: one file each, which the extension renames.
type channel struct {
	cli.NoChannel
	listens string // file that is empty until the extension listens
	inbox   string
}

func channelOf(s cli.Spec) channel {
	return channel{listens: filepath.Join(s.StateDir, "pi-listens"), inbox: filepath.Join(s.StateDir, "pi-prompt")}
}

func (driver) Channel(s cli.Spec) cli.Channel { return channelOf(s) }

// files returns both files, empty, so that a launch takes nothing of an earlier one.
func (c channel) files() []cli.File { return []cli.File{{Path: c.listens}, {Path: c.inbox}} }

// Open gives the extension an empty prompt, of which pi does not hear.
func (c channel) Open(ctx context.Context) bool {
	info, err := os.Stat(c.listens)
	return err == nil && info.Size() > 0 && c.put(ctx, "") == nil
}

// Submit gives a prompt to the extension, whose pi begins with it or adds it to the running turn. A menu or a half-typed
// text stays as it is.
func (c channel) Submit(ctx context.Context, prompt string, _ cli.Screen) error {
	return c.put(ctx, prompt)
}

// put waits until the extension has taken the file, or takes it back.
func (c channel) put(ctx context.Context, prompt string) error {
	if err := disk.ReplaceSoon(c.inbox, []byte(prompt)); err != nil {
		return errors.Join(cli.ErrNotHandedOver, err)
	}
	if poll.Until(ctx, poll.Tick, patience, func() bool { return !disk.Exists(c.inbox) }) {
		return nil
	}
	switch err := os.Remove(c.inbox); {
	case err == nil:
		return fmt.Errorf("%w: pi does not take it", cli.ErrNotHandedOver)
	case errors.Is(err, fs.ErrNotExist): // taken at the last moment
		return nil
	default:
		return err
	}
}
