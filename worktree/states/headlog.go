package states

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/gitdir"
)

// headLog is the log of a worktree's HEAD.
type headLog struct {
	moves []move // oldest first
	size  int64  // of the file, in bytes
}

// move is one line of the log: what HEAD was, what it became, and why. end is where the line ends in the file.
type move struct {
	was, is, why string
	end          int64
}

// readHeadLog reads the log of HEAD in a worktree's git directory, none for "".
func readHeadLog(admin string) (log headLog, err error) {
	if admin == "" {
		return log, nil
	}
	text, err := os.ReadFile(filepath.Join(admin, "logs", "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return log, nil
	}
	for line := range bytes.Lines(text) {
		log.size += int64(len(line))
		head, why, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		if ids := strings.Fields(head); len(ids) > 1 && gitdir.IsOID(ids[0]) && gitdir.IsOID(ids[1]) {
			log.moves = append(log.moves, move{ids[0], ids[1], why, log.size})
		}
	}
	return log, err
}

// LogSize returns the size of the log of HEAD in a worktree's git directory, for State.Log.
func LogSize(admin string) int64 {
	info, err := os.Stat(filepath.Join(admin, "logs", "HEAD"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// moves are some moves of HEAD, oldest first.
type moves []move

// since returns how HEAD has moved since it was at a commit, and its log of some size, without rebases that were given up. Where that is not
// known, or the log was rewritten since, as by git reflog expire, it is since HEAD first left the commit.
func (log headLog) since(head string, size int64) moves { return log.allSince(head, size).carriedOut() }

// carriedOut leaves out rebases that were given up: HEAD is back where it was.
func (all moves) carriedOut() (some moves) {
	for _, one := range all {
		some = append(some, one)
		if !strings.HasPrefix(one.why, "rebase (abort)") {
			continue
		}
		for at, began := range slices.Backward(some) {
			if strings.HasPrefix(began.why, "rebase (start)") {
				if began.was == one.is {
					some = some[:at]
				}
				break
			}
		}
	}
	return some
}

func (log headLog) allSince(head string, size int64) moves {
	for i, one := range log.moves {
		if one.is == head && one.end == size {
			return log.moves[i+1:]
		}
	}
	left := slices.IndexFunc(log.moves, func(one move) bool { return one.was == head })
	if left < 0 && len(log.moves) > 0 && log.moves[len(log.moves)-1].is == head {
		return nil
	}
	return log.moves[max(0, left):]
}

// commits reports whether HEAD moved to a commit that was made then, of which the one before is a
// parent.
func (m move) commits() bool {
	return slices.ContainsFunc([]string{"commit: ", "commit (initial): ", "commit (amend): ", "cherry-pick: ", "revert: ", "am: "},
		func(why string) bool { return strings.HasPrefix(m.why, why) })
}

// merges reports whether HEAD moved to what may be a merge.
func (m move) merges() bool {
	return slices.ContainsFunc([]string{"merge ", "pull", "commit (merge): "}, func(why string) bool { return strings.HasPrefix(m.why, why) })
}

// makes reports whether HEAD moved to a commit that was made in the worktree.
func (m move) makes() bool {
	word, _, _ := strings.Cut(m.why, " ")
	switch strings.TrimSuffix(word, ":") {
	case "commit", "cherry-pick", "revert", "am":
		return true
	case "merge", "pull", "paw":
		return !strings.HasSuffix(m.why, fastForward) && !strings.Contains(m.why, "(start)") && !strings.Contains(m.why, "(finish)") &&
			!strings.HasPrefix(m.why, "paw: ")
	case "rebase":
		return m.why != "rebase: fast-forward" && !strings.Contains(m.why, "(start)") && !strings.Contains(m.why, "(finish)") && !strings.Contains(m.why, "(abort)")
	}
	return false
}

// fastForward ends the lines about a move to another branch's commit.
const fastForward = ": Fast-forward"

// Made returns the commits that were made in the worktree with a git directory.
func Made(admin string) (map[string]bool, error) {
	log, err := readHeadLog(admin)
	return log.made(), err
}

func (log headLog) made() map[string]bool {
	made := map[string]bool{}
	for _, one := range log.moves {
		if one.makes() {
			made[one.is] = true
		}
	}
	return made
}

// onlyCommits reports whether the moves lead from one commit to another by commits that were made in the worktree
// alone. Such commits bring nothing of another branch.
func (all moves) onlyCommits(from, to string) bool {
	for _, one := range all {
		if one.was != from || one.was != one.is && !one.commits() { // a git reset that only takes back git add moves nothing
			return false
		}
		from = one.is
	}
	return from == to
}

// visited returns where HEAD went to and was not made, or merged, in this order, with the commit at the end: a commit of
// another branch that the agent amends at once, or a merge that it rebases, is in no history any more. What HEAD had before
// a rebase, the rebase may have made anew.
func (all moves) visited(to string) (heads []string) {
	add := func(head string) {
		if !slices.Contains(heads, head) {
			heads = append(heads, head)
		}
	}
	for _, one := range all {
		if strings.HasPrefix(one.why, "rebase (start)") {
			add(one.was)
		}
		if !one.makes() || one.merges() {
			add(one.is)
		}
	}
	add(to)
	return heads
}

// arrival returns what HEAD was before the first merge or rebase onto another branch that moved it to a commit, "" for none, and what it
// was when that was done.
func (all moves) arrival(to string) (into, done string) {
	for i, one := range all {
		switch starts := strings.Contains(one.why, "(start)"); {
		case one.is != to || !starts && !one.merges():
		case !starts:
			return one.was, to
		default:
			end := slices.IndexFunc(all[i:], func(one move) bool { return strings.Contains(one.why, "(finish)") })
			if end < 0 { // not done
				return one.was, ""
			}
			return one.was, all[i+end].is
		}
	}
	return "", ""
}
