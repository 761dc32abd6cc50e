package turns

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"paw/config/disk"
	"paw/worktree/states"
)

// A file beside the scratch index keeps what the twin of a state does not tell: the snapshot, HEAD, and the size of
// HEAD's log. It is written before the refs are, and has a line for each of the newest states, so that the lines
// of the one that the refs name are there whenever paw is killed.

// mostRemembered limits the lines of the file, which is cut when it has twice as many.
const mostRemembered = 50

func (c *Chain) file() string { return filepath.Join(Scratch(c.Agent), "state") }

// Remember writes down a state that becomes the newest one, or that paw is about to move the worktree to. Whoever
// does not find it, as after a power loss, knows neither snapshot nor HEAD.
func (c *Chain) Remember(now states.State) {
	line := fmt.Sprintln(now.Twin, cmp.Or(now.Snapshot, "-"), cmp.Or(now.Head, "-"), now.Log, cmp.Or(now.Made, "-"))
	text, _ := disk.ReadFile(c.file())
	lines := slices.Collect(strings.Lines(string(text)))
	whole := len(lines) == 0 || strings.HasSuffix(lines[len(lines)-1], "\n") // else the disk was full
	if whole && len(lines) < 2*mostRemembered {
		if f, err := os.OpenFile(c.file(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString(line)
			_ = f.Close()
			return
		}
	}
	if !whole {
		lines = lines[:len(lines)-1]
	}
	lines = append(lines[max(0, len(lines)-mostRemembered+1):], line)
	_ = disk.ReplaceSoon(c.file(), []byte(strings.Join(lines, "")))
}

// remembered returns a state with what was written down of it last. Of what the agent began with, the record knows
// that, too.
func (c *Chain) remembered(twin string) states.State {
	text, _ := disk.ReadFile(c.file())
	for _, line := range slices.Backward(slices.Collect(strings.Lines(string(text)))) {
		if f := strings.Fields(line); len(f) > 3 && f[0] == twin {
			size, _ := strconv.ParseInt(f[3], 10, 64)
			now := states.State{Twin: twin, Snapshot: strings.TrimPrefix(f[1], "-"), Head: strings.TrimPrefix(f[2], "-"), Log: size}
			if len(f) > 4 {
				now.Made = strings.TrimPrefix(f[4], "-")
			}
			return now
		}
	}
	if begin := c.begin(); begin.Twin == twin {
		return begin
	}
	return states.State{Twin: twin}
}
