package tmux

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"paw/config/lazyregexp"
)

// Version is a tmux version. Raw is the output of tmux -V without the word tmux.
type Version struct {
	Major, Minor int
	Raw          string
}

// newest is the major number of versions without one: "master", and those of OpenBSD.
const newest = 1 << 20

var versionPattern = lazyregexp.New(`^(?:next-)?(\d{1,6})\.(\d{1,6})`)

// Version runs tmux -V, which connects to no server. The error is ErrNotInstalled when there is no
// tmux on PATH.
func (c *Client) Version(ctx context.Context) (Version, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	args := command{"-V"}
	cmd, err := program(ctx, ownEnvironment(os.Environ()), args)
	if err != nil {
		return Version{}, &Error{Args: args, ExitCode: -1, Err: err}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return Version{}, c.failure(ctx, args, cmd, stderr.String(), err)
	}
	return parseVersion(stdout.String())
}

// AtLeast reports whether v is major.minor or newer. Development versions count as newer than every
// release.
func (v Version) AtLeast(major, minor int) bool {
	if v.Major != major {
		return v.Major > major
	}
	return v.Minor >= minor
}

func parseVersion(text string) (Version, error) {
	raw := strings.TrimPrefix(strings.TrimSpace(text), "tmux ")
	if raw == "master" || strings.HasPrefix(raw, "openbsd-") {
		return Version{Major: newest, Raw: raw}, nil
	}
	m := versionPattern.FindStringSubmatch(raw)
	if m == nil {
		return Version{}, fmt.Errorf("tmux: version %q is not understood", raw)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Version{Major: major, Minor: minor, Raw: raw}, nil
}
