package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"paw/lazyregexp"
)

// OldestMajor and OldestMinor are the oldest git that paw works with:
// `worktree add --lock --reason` came with 2.33.
const (
	OldestMajor = 2
	OldestMinor = 34
)

var versionPattern = lazyregexp.New(`^git version (\d+)\.(\d+)`)

// TooOldError is a git older than paw needs.
type TooOldError struct{ Raw string }

func (e *TooOldError) Error() string {
	return fmt.Sprintf("git: version %s is too old, %d.%d or newer is needed", e.Raw, OldestMajor, OldestMinor)
}

// Version returns the version of the git on PATH; raw is all that follows
// "git version". It fails with ErrNotInstalled when there is none.
func Version(ctx context.Context) (major, minor int, raw string, err error) {
	out, err := Repo{}.Line(ctx, "version")
	if err != nil {
		return 0, 0, "", err
	}
	return parseVersion(out)
}

func parseVersion(out string) (major, minor int, raw string, err error) {
	raw = strings.TrimPrefix(out, "git version ")
	match := versionPattern.FindStringSubmatch(out)
	if match == nil {
		return 0, 0, raw, fmt.Errorf("git: version %q is not understood", out)
	}
	major, _ = strconv.Atoi(match[1])
	minor, _ = strconv.Atoi(match[2])
	return major, minor, raw, nil
}

// Require fails with ErrNotInstalled or *TooOldError when the git on PATH is
// missing or older than paw needs.
func Require(ctx context.Context) error {
	major, minor, raw, err := Version(ctx)
	if err != nil {
		return err
	}
	if !atLeast(major, minor) {
		return &TooOldError{Raw: raw}
	}
	return nil
}

func atLeast(major, minor int) bool {
	return major > OldestMajor || major == OldestMajor && minor >= OldestMinor
}
