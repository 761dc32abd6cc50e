package turn

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"paw/lazyregexp"
)

// tagPattern knows a turn tag as a whole. A turn-session name has no '-', so the number is what follows the last one.
var tagPattern = lazyregexp.New(`^afk-([a-zA-Z0-9_]{1,64})-(0|[1-9][0-9]*)$`)

// TagName returns the tag of a turn, afk-<turn session>-<n>: n is 0 at the start of the session and the turn's number
// at the end of a turn.
func TagName(turnSession string, n int) string { return fmt.Sprintf("afk-%s-%d", turnSession, n) }

// TagRef returns the full name of the tag. Git must always be given this one: a branch may have the short name too.
func TagRef(turnSession string, n int) string { return "refs/tags/" + TagName(turnSession, n) }

// ParseTag takes the short name of a turn tag apart. It is false for every name that TagName does not give for a valid
// turn-session name.
func ParseTag(name string) (turnSession string, n int, ok bool) {
	match := tagPattern.FindStringSubmatch(name)
	if match == nil {
		return "", 0, false
	}
	n, err := strconv.Atoi(match[2])
	if err != nil {
		return "", 0, false
	}
	return match[1], n, true
}

// Highest returns the highest number among the tags, given by their short names, of exactly this turn session. It is 0
// if there is none but the start.
func Highest(tags []string, turnSession string) int {
	highest := 0
	for _, tag := range tags {
		if of, n, ok := ParseTag(tag); ok && of == turnSession {
			highest = max(highest, n)
		}
	}
	return highest
}

// RefKind is what a numbered ref under refs/paw stands for.
type RefKind string

// The kinds of numbered refs.
const (
	RefClaim  RefKind = "claim"  // the number is taken
	RefBefore RefKind = "before" // snapshot at the start of a turn
	RefTurn   RefKind = "turn"   // snapshot at the end of a turn
)

var refPattern = lazyregexp.New(`^refs/paw/([a-zA-Z0-9_]{1,64})/(claim|before|turn)/([1-9][0-9]*)$`)

// HiddenPrefix is what all hidden refs begin with; the name of the turn session follows.
const HiddenPrefix = "refs/paw/"

// RefPrefix is what all hidden refs of a turn session begin with, up to and with the last slash.
func RefPrefix(turnSession string) string { return HiddenPrefix + turnSession + "/" }

// OwnerRef returns the ref that says which session has taken the name of the turn session in a repository.
func OwnerRef(turnSession string) string { return RefPrefix(turnSession) + "owner" }

// ClaimRef returns the ref whose creation takes the number n.
func ClaimRef(turnSession string, n int) string { return numbered(turnSession, RefClaim, n) }

// BeforeRef returns the ref of the snapshot at the start of turn n.
func BeforeRef(turnSession string, n int) string { return numbered(turnSession, RefBefore, n) }

// TurnRef returns the ref of the snapshot at the end of turn n.
func TurnRef(turnSession string, n int) string { //nolint:revive // the ref is called turn, like its siblings claim and before
	return numbered(turnSession, RefTurn, n)
}

// HeadRef returns the ref that keeps HEAD at the end of turn n where there is no snapshot of that. It is no TurnRef: HEAD
// could not be told from the snapshot of a worktree in which nothing was uncommitted.
func HeadRef(turnSession string, n int) string {
	return RefPrefix(turnSession) + "head/" + strconv.Itoa(n)
}

// StartRef returns the ref that keeps what was not committed when the turn session began, for one that began in the middle
// of the work of another.
func StartRef(turnSession, commit string) string { return RefPrefix(turnSession) + "start/" + commit }

// rescueTime is how a rescue ref tells when it was made; it sorts as text.
const rescueTime = "20060102T150405.000Z"

// RescueRef returns the ref for what is saved at that time, to the millisecond, before something destructive.
func RescueRef(turnSession string, at time.Time) string {
	return RefPrefix(turnSession) + "rescue/" + at.UTC().Format(rescueTime)
}

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

func numbered(turnSession string, kind RefKind, n int) string {
	return RefPrefix(turnSession) + string(kind) + "/" + strconv.Itoa(n)
}

// ParseRef takes the full name of a numbered ref apart; it is false for any other.
func ParseRef(ref string) (turnSession string, kind RefKind, n int, ok bool) {
	match := refPattern.FindStringSubmatch(ref)
	if match == nil {
		return "", "", 0, false
	}
	n, err := strconv.Atoi(match[3])
	if err != nil {
		return "", "", 0, false
	}
	return match[1], RefKind(match[2]), n, true
}

// HighestClaim returns the highest number that is taken among the refs, given by their full names, of exactly this turn
// session; 0 if none is.
func HighestClaim(refs []string, turnSession string) int {
	highest := 0
	for _, ref := range refs {
		if of, kind, n, ok := ParseRef(ref); ok && of == turnSession && kind == RefClaim {
			highest = max(highest, n)
		}
	}
	return highest
}
