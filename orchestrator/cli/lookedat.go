package cli

import (
	_ "embed" // embeds the table of versions
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

//go:embed lookedat.txt
var lookedAtTable string

// LookedAt is a row of the table of the versions that paw's tests were run with.
type LookedAt struct {
	CLI            string
	Package        string // npm package
	Oldest, Newest string // versions, equal where only one was tested
}

// LookedAts returns all rows, in the order of the table.
func LookedAts() []LookedAt {
	var all []LookedAt
	for line := range strings.Lines(lookedAtTable) {
		if words := strings.Fields(line); len(words) == 4 && words[0] != "#" {
			all = append(all, LookedAt{CLI: words[0], Package: words[1], Oldest: words[2], Newest: words[3]})
		}
	}
	return all
}

// Install returns the command that installs a CLI, "" where paw knows none.
func Install(cli string) string {
	for _, looked := range LookedAts() {
		if looked.CLI == cli {
			return "npm install -g " + looked.Package
		}
	}
	return ""
}

// Standing tells how the installed version of a CLI compares with the tested ones.
type Standing string

// The standings of a version. A CLI that was never tested, and a version that cannot be compared,
// have StandingUnknown.
const (
	StandingUnknown Standing = ""
	StandingSame    Standing = "looked at" // the oldest or the newest tested version
	StandingBetween Standing = "between"
	StandingNewer   Standing = "newer"
	StandingOlder   Standing = "older"
)

// StandingOf compares the version of a CLI with the tested ones. A pre-release (1.2.0-beta) is
// older than its release.
func StandingOf(cli, version string) (Standing, LookedAt) {
	for _, looked := range LookedAts() {
		if looked.CLI == cli {
			return looked.standing(version), looked
		}
	}
	return StandingUnknown, LookedAt{}
}

func (l LookedAt) standing(version string) Standing {
	v := "v" + version
	if !semver.IsValid(v) {
		return StandingUnknown
	}
	oldest, newest := semver.Compare(v, "v"+l.Oldest), semver.Compare(v, "v"+l.Newest)
	switch {
	case oldest == 0 || newest == 0:
		return StandingSame
	case newest > 0:
		return StandingNewer
	case oldest < 0:
		return StandingOlder
	}
	return StandingBetween
}

// Describe puts a standing into words; "" for StandingSame and StandingUnknown.
func (l LookedAt) Describe(standing Standing) string {
	switch standing {
	case StandingNewer:
		return fmt.Sprintf("newer than any that was looked at (%s)", l.Newest)
	case StandingOlder:
		return fmt.Sprintf("older than any that was looked at (%s)", l.Oldest)
	case StandingBetween:
		return fmt.Sprintf("between those that were looked at (%s and %s)", l.Oldest, l.Newest)
	case StandingUnknown, StandingSame:
	}
	return ""
}
