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

// moves lists the moves of a worktree's HEAD, oldest first.
type moves []move

// move is one line of the log: what HEAD was, what it became, and why.
type move struct{ was, is, why string }

// headLog reads the log of HEAD in a worktree's git directory, none for "".
func headLog(admin string) (all moves, err error) {
	if admin == "" {
		return nil, nil
	}
	log, err := os.ReadFile(filepath.Join(admin, "logs", "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for text := range bytes.Lines(log) {
		head, why, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\t")
		if ids := strings.Fields(head); len(ids) > 1 && gitdir.IsOID(ids[0]) && gitdir.IsOID(ids[1]) {
			all = append(all, move{ids[0], ids[1], why})
		}
	}
	return all, err
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
		return !strings.Contains(m.why, "(start)") && !strings.Contains(m.why, "(finish)") && !strings.Contains(m.why, "(abort)")
	}
	return false
}

// fastForward ends the lines about a move to another branch's commit.
const fastForward = ": Fast-forward"

// Made returns the commits that were made in the worktree with a git directory.
func Made(admin string) (map[string]bool, error) {
	log, err := headLog(admin)
	return log.made(), err
}

func (all moves) made() map[string]bool {
	made := map[string]bool{}
	for _, one := range all {
		if one.makes() {
			made[one.is] = true
		}
	}
	return made
}

// onlyCommits reports whether HEAD came from one commit to another by commits that were made in the
// worktree alone. Such commits bring nothing of another branch.
func (all moves) onlyCommits(from, to string) bool {
	at := to
	for _, one := range slices.Backward(all) {
		switch {
		case at == from:
			return true
		case one.is != at || !one.commits():
			return false
		}
		at = one.was
	}
	return at == from
}

// visited returns where HEAD went to and was not made, or merged, on the way from one commit to another,
// with the last one: a commit of another branch that the agent amends at once, or a merge that it rebases, is
// in no history any more.
func (all moves) visited(from, to string) []string {
	heads := []string{to}
	for _, one := range slices.Backward(all) {
		if one.is == from {
			break
		}
		if (!one.makes() || one.merges()) && !slices.Contains(heads, one.is) {
			heads = append(heads, one.is)
		}
	}
	return heads
}

// onlyResets reports whether HEAD came from one commit to another without a merge or a rebase: nothing that
// conflicts was resolved then.
func (all moves) onlyResets(from string) bool {
	for _, one := range slices.Backward(all) {
		switch {
		case one.is == from:
			return true
		case one.merges() || strings.HasPrefix(one.why, "rebase"):
			return false
		}
	}
	return true
}
