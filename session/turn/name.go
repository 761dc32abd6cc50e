package turn

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TagPrefix is what the short name of each turn tag begins with.
const TagPrefix = "afk-"

// TagName returns the tag of a turn, afk-<turn session>-<n>: n is 0 at the start of the session and the turn's number
// at the end of a turn.
func TagName(turnSession string, n int) string {
	return fmt.Sprintf("%s%s-%d", TagPrefix, turnSession, n)
}

// TagRef returns the full name of the tag. Git must always be given this one: a branch may have the short name too.
func TagRef(turnSession string, n int) string { return "refs/tags/" + TagName(turnSession, n) }

// ParseTag takes the short name of a turn tag apart. It is false for every name that TagName does not give for a valid
// turn-session name. Such a name has no '-', so the number is what follows the last one. There can be ten thousands.
func ParseTag(name string) (turnSession string, n int, ok bool) {
	rest, found := strings.CutPrefix(name, TagPrefix)
	turnSession, digits, cut := strings.Cut(rest, "-")
	if !found || !cut || turnSession == "" || len(turnSession) > 64 || strings.Trim(turnSession, nameLetters) != "" {
		return "", 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || strconv.Itoa(n) != digits {
		return "", 0, false
	}
	return turnSession, n, true
}

// nameLetters are the characters of a turn-session name.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// HiddenPrefix is what all hidden refs begin with; the name of the turn session follows.
const HiddenPrefix = "refs/paw/"

// RefPrefix is what all hidden refs of a turn session begin with, up to and with the last slash.
func RefPrefix(turnSession string) string { return HiddenPrefix + turnSession + "/" }

// OwnerRef returns the ref that says which session has taken the name of the turn session in a repository.
func OwnerRef(turnSession string) string { return RefPrefix(turnSession) + "owner" }

// ClaimPrefix is what the refs begin with whose creation takes a number, which follows.
func ClaimPrefix(turnSession string) string { return RefPrefix(turnSession) + "claim/" }

// BeforeRef returns the ref of the snapshot at the start of turn n.
func BeforeRef(turnSession string, n int) string {
	return RefPrefix(turnSession) + "before/" + strconv.Itoa(n)
}

// TurnRef returns the ref of the snapshot at the end of turn n.
func TurnRef(turnSession string, n int) string { //nolint:revive // the ref is called turn, like its siblings claim and before
	return RefPrefix(turnSession) + "turn/" + strconv.Itoa(n)
}

// UpdatedPrefix is what the refs begin with of states that updates brought an agent to.
func UpdatedPrefix(turnSession string) string { return RefPrefix(turnSession) + "updated/" }

// UpdatedRef returns the ref of the worktree as the last update after turn n left it.
func UpdatedRef(turnSession string, n int) string {
	return UpdatedPrefix(turnSession) + strconv.Itoa(n)
}

// HeadRef returns the ref that keeps HEAD at the end of turn n where there is no snapshot of that. It is no TurnRef: HEAD
// could not be told from the snapshot of a worktree in which nothing was uncommitted.
func HeadRef(turnSession string, n int) string {
	return RefPrefix(turnSession) + "head/" + strconv.Itoa(n)
}

// StartRef returns the ref that keeps what was not committed when the turn session began, for one that began in the middle
// of the work of another.
func StartRef(turnSession, commit string) string { return RefPrefix(turnSession) + "start/" + commit }

// HandedRef returns the ref of the state that was handed to another machine last.
func HandedRef(turnSession string) string { return RefPrefix(turnSession) + "handed" }

// SeenRef returns the ref of the state of a worktree that the user looked at last.
func SeenRef(turnSession string) string { return RefPrefix(turnSession) + "seen" }

// LandedPrefix is what the refs of the landings of an agent begin with.
func LandedPrefix(turnSession string) string { return RefPrefix(turnSession) + "landed/" }

// LandedPattern matches, for git, the refs of what targets have become by landings.
const LandedPattern = HiddenPrefix + "*/landed/*/after"

// FarLandedPattern is LandedPattern for work of other machines, whose turn sessions are named @HOST/NAME.
const FarLandedPattern = HiddenPrefix + "*/*/landed/*/after"

// LandedRef returns the ref of one side of landing k: "before" and "after" are commits of the target, "state" is what landed, "handed"
// what the target had with files that were not committed there and that landed as the agent got them.
func LandedRef(turnSession string, k int, side string) string {
	return LandedPrefix(turnSession) + strconv.Itoa(k) + "/" + side
}

// ParseLanded takes the ref of a landing apart.
func ParseLanded(ref string) (turnSession string, k int, side string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(ref, HiddenPrefix), "/")
	if len(parts) == 5 && strings.HasPrefix(parts[0], "@") { // of another machine
		parts = append([]string{parts[0] + "/" + parts[1]}, parts[2:]...)
	}
	if len(parts) != 4 || parts[1] != "landed" || !strings.HasPrefix(ref, HiddenPrefix) {
		return "", 0, "", false
	}
	k, err := strconv.Atoi(parts[2])
	return parts[0], k, parts[3], err == nil
}

// PushedPrefix is what the refs begin with of commits that were pushed for an agent.
func PushedPrefix(turnSession string) string { return RefPrefix(turnSession) + "pushed/" }

// PushedRef returns the ref of the commit of push k.
func PushedRef(turnSession string, k int) string { return PushedPrefix(turnSession) + strconv.Itoa(k) }

// rescueTime is how a rescue ref tells when it was made; it sorts as text.
const rescueTime = "20060102T150405.000Z"

// RescueRef returns the ref for what is saved at that time, to the millisecond, before something destructive.
func RescueRef(turnSession string, at time.Time) string {
	return RefPrefix(turnSession) + "rescue/" + at.UTC().Format(rescueTime)
}

// LeftRef returns the ref of what the last check left in the place where checks run.
func LeftRef(turnSession string) string { return RefPrefix(turnSession) + "rescue/left-by-check" }

// rewound ends the refs of what a rewind put aside: they alone are what undoing one goes back to.
const rewound = "-rewind"

// RewindRef returns the rescue ref for what a rewind puts aside at that time. It sorts after newest, the full name of the
// last one there is or "", also when the clock was set back since.
func RewindRef(turnSession string, at time.Time, newest string) string {
	text := strings.TrimSuffix(strings.TrimPrefix(newest, RefPrefix(turnSession)+"rescue/"), rewound)
	if last, err := time.Parse(rescueTime, text); err == nil && !at.Truncate(time.Millisecond).After(last) {
		at = last.Add(time.Millisecond)
	}
	return RescueRef(turnSession, at) + rewound
}

// IsRewindRef tells whether a rescue ref, by its full name, is one that a rewind made.
func IsRewindRef(ref string) bool { return strings.HasSuffix(ref, rewound) }
