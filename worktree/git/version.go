package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"paw/config/lazyregexp"
)

var versionPattern = lazyregexp.New(`^git version (\d+)\.(\d+)`)

// Version returns the version of the git on PATH; raw is the output after "git version". The error
// is ErrNotInstalled when there is none.
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
