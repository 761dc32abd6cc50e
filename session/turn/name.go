package turn

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// TagPrefix is the start of every turn tag's short name.
const TagPrefix = "afk-"

// TagName returns the short name of a turn tag, afk-<turn session>-<n>: n is 0 for the start of the
// session, else the number of the turn that ended.
func TagName(turnSession string, n int) string {
	return fmt.Sprintf("%s%s-%d", TagPrefix, turnSession, n)
}

// TagRef returns the full name of a turn tag. git must always get the full name, since a branch may
// have the short one.
func TagRef(turnSession string, n int) string { return "refs/tags/" + TagName(turnSession, n) }

// ParseTag splits the short name of a turn tag. ok is false for any name that TagName does not
// return for a valid turn session, whose name holds no '-'. ParseTag is written to be fast, since
// there can be tens of thousands of tags.
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

// nameLetters lists the characters allowed in a turn session's name.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// HiddenPrefix is the start of all hidden refs; the name of the turn session follows.
const HiddenPrefix = "refs/paw/"

// RefPrefix returns the start of all hidden refs of a turn session, with the last slash.
func RefPrefix(turnSession string) string { return HiddenPrefix + turnSession + "/" }

// OwnerPrefix returns the start of the ref made by OwnerRef.
func OwnerPrefix(turnSession string) string { return RefPrefix(turnSession) + "owner/" }

// OwnerRef returns the ref that says which session, by its name and id, uses the turn session's name in a
// repository.
func OwnerRef(turnSession, session, id string) string {
	return OwnerPrefix(turnSession) + session + "/" + id
}

// ParseOwner splits a ref that OwnerRef has made; ok is false for any other.
func ParseOwner(ref string) (turnSession, session, id string, ok bool) {
	turnSession, owner, _ := strings.Cut(strings.TrimPrefix(ref, HiddenPrefix), "/owner/")
	session, id, ok = strings.Cut(owner, "/")
	return turnSession, session, id, ok
}

// ClaimPrefix returns the start of the refs that reserve turn numbers; the number follows.
func ClaimPrefix(turnSession string) string { return RefPrefix(turnSession) + "claim/" }

// BeforeRef returns the ref of the snapshot at the start of turn n.
func BeforeRef(turnSession string, n int) string {
	return RefPrefix(turnSession) + "before/" + strconv.Itoa(n)
}

// TurnRef returns the ref of the snapshot at the end of turn n.
func TurnRef(turnSession string, n int) string { //nolint:revive // the ref is called turn, like its siblings claim and before
	return RefPrefix(turnSession) + "turn/" + strconv.Itoa(n)
}

// NowRef returns the ref of the newest state in the chain of a turn session.
func NowRef(turnSession string) string { return RefPrefix(turnSession) + "now" }

// StatePrefix returns the start of the refs made by StateRef.
func StatePrefix(turnSession string) string { return RefPrefix(turnSession) + "state/" }

// StateRef returns the ref of the state in the chain at the end of turn n.
func StateRef(turnSession string, n int) string { return StatePrefix(turnSession) + strconv.Itoa(n) }

// HeadRef returns the ref that keeps HEAD at the end of turn n if there is no snapshot. TurnRef is
// another ref: HEAD alone could be taken for the snapshot of a clean worktree.
func HeadRef(turnSession string, n int) string {
	return RefPrefix(turnSession) + "head/" + strconv.Itoa(n)
}

// StartRef returns the ref that keeps the uncommitted files a turn session started with, when it
// started in the middle of another's work.
func StartRef(turnSession, commit string) string { return RefPrefix(turnSession) + "start/" + commit }

// HandedRef returns the ref of the last state that was handed to another machine.
func HandedRef(turnSession string) string { return RefPrefix(turnSession) + "handed" }

// SeenRef returns the ref of the snapshot that the user looked at last.
func SeenRef(turnSession string) string { return RefPrefix(turnSession) + "seen" }

// LandedPrefix returns the start of the refs of an agent's landings.
func LandedPrefix(turnSession string) string { return RefPrefix(turnSession) + "landed/" }

// LandedPattern is a git ref pattern: targets after landings.
const LandedPattern = HiddenPrefix + "*/landed/*/after"

// FarLandedPattern is LandedPattern for turn sessions of hosts, which are named @HOST/NAME.
const FarLandedPattern = HiddenPrefix + "*/*/landed/*/after"

// LandedRef returns the ref of one side of landing k: "before" and "after" are commits of the
// target, "state" is the state that landed, "twin" that state in the agent's chain, "handed" the
// target plus uncommitted files of its checkout that landed as the agent had got them.
func LandedRef(turnSession string, k int, side string) string {
	return LandedPrefix(turnSession) + strconv.Itoa(k) + "/" + side
}

// ParseLanded splits the ref of a landing.
func ParseLanded(ref string) (turnSession string, k int, side string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(ref, HiddenPrefix), "/")
	if len(parts) == 5 && strings.HasPrefix(parts[0], "@") { // turn session of a host
		parts = append([]string{parts[0] + "/" + parts[1]}, parts[2:]...)
	}
	if len(parts) != 4 || parts[1] != "landed" || !strings.HasPrefix(ref, HiddenPrefix) {
		return "", 0, "", false
	}
	k, err := strconv.Atoi(parts[2])
	return parts[0], k, parts[3], err == nil
}

// PushedPrefix returns the start of the refs of an agent's pushed commits.
func PushedPrefix(turnSession string) string { return RefPrefix(turnSession) + "pushed/" }

// PushedRef returns the ref of the commit of push k.
func PushedRef(turnSession string, k int) string { return PushedPrefix(turnSession) + strconv.Itoa(k) }

// rescueTime is the time format in rescue refs; it sorts as text.
const rescueTime = "20060102T150405.000Z"

// RescueRef returns the ref for a state that is saved at that time, in milliseconds, before
// something destructive.
func RescueRef(turnSession string, at time.Time) string {
	return RescuePrefix(turnSession) + at.UTC().Format(rescueTime)
}

// RescuePrefix returns the start of the refs of rescued work of a turn session, and of LeftRef.
func RescuePrefix(turnSession string) string { return RefPrefix(turnSession) + "rescue/" }

// LeftRef returns the ref of the files that the last check left in the worktree where checks run.
func LeftRef(turnSession string) string { return RescuePrefix(turnSession) + "left-by-check" }

// RewindRef returns the rescue ref for what a move of the worktree puts aside at that time.
func RewindRef(turnSession string, at time.Time) string {
	return RescueRef(turnSession, at) + "-rewind"
}

// OpPrefix returns the start of the refs of the moves of an agent's worktree.
func OpPrefix(turnSession string) string { return RefPrefix(turnSession) + "op/" }

// OpRef returns the ref of move n.
func OpRef(turnSession string, n int) string { return OpPrefix(turnSession) + strconv.Itoa(n) }
