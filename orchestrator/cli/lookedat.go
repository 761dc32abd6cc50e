package cli

import (
	_ "embed" // embeds the table of versions
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

//go:embed lookedat.txt
var lookedAtTable string

// LookedAt is a row of the table of the versions that paw's tests were run with.
type LookedAt struct {
	CLI     string
	Package string // npm package
	Version string
}

// LookedAts returns all rows, in the order of the table.
func LookedAts() []LookedAt {
	var all []LookedAt
	for line := range strings.Lines(lookedAtTable) {
		if words := strings.Fields(line); len(words) == 3 && words[0] != "#" {
			all = append(all, LookedAt{CLI: words[0], Package: words[1], Version: words[2]})
		}
	}
	return all
}

// LookedAtOf returns the row of a CLI, an empty one where paw knows none.
func LookedAtOf(cli string) LookedAt {
	all := LookedAts()
	if i := slices.IndexFunc(all, func(l LookedAt) bool { return l.CLI == cli }); i >= 0 {
		return all[i]
	}
	return LookedAt{}
}

// Install returns the command that installs a CLI, "" where paw knows none.
func Install(cli string) string {
	if of := LookedAtOf(cli).Package; of != "" {
		return "npm install -g " + of
	}
	return ""
}

// SameVersion is the standing of the tested version.
const SameVersion = "looked at"

// Standing compares an installed version with the tested one: SameVersion, "newer" or "older", with words for all but the first. It is "" for a CLI that was never tested, and for a version that cannot be compared. A pre-release (1.2.0-beta) is
// older than its release.
func (l LookedAt) Standing(version string) (standing, words string) {
	v := "v" + version
	than := semver.Compare(v, "v"+l.Version)
	switch {
	case l.CLI == "" || !semver.IsValid(v):
		return "", ""
	case than == 0:
		return SameVersion, ""
	case than > 0:
		return "newer", "newer than any that was looked at (" + l.Version + ")"
	}
	return "older", "older than any that was looked at (" + l.Version + ")"
}
