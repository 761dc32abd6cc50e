package handover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session/turn"
	"paw/worktree"
)

// State is what an agent had done by the end of a turn, beside what was said.
type State struct {
	Turns []turn.Record // until then
	Work  *worktree.Work
}

// MostListed is how many commits, and how many files, a brief names.
const MostListed = 40

// longestListed is how much of a commit's title or a file's name a brief has, in bytes.
const longestListed = 200

// text is the state in quoted lines of at most so many bytes: lists are cut, what cannot be cut is left out.
func (s State) text(limit int) string {
	for _, most := range []int{MostListed, 20, 10, 5, 2, 0} {
		if text := s.lines(most); len(text) <= limit {
			return text
		}
	}
	return ""
}

// lines are the quoted lines, with at most so many in each list.
func (s State) lines(most int) string {
	var out strings.Builder
	quote := func(line string) { out.WriteString("> " + cutLine(line, longestListed) + "\n") }
	list := func(lines []string, count int) {
		shown := min(most, len(lines))
		for _, line := range lines[:shown] {
			quote(line)
		}
		if shown > 0 && shown < count {
			quote(fmt.Sprintf("[and %d more]", count-shown))
		}
	}
	if len(s.Turns) > 0 {
		quote(s.outcomes())
	}
	if s.Work == nil {
		return out.String()
	}
	if n := s.Work.CommitCount; n > 0 {
		quote(errs.Counted(n, "commit") + " since its branch began, newest first")
		list(s.Work.Commits, n)
	} else {
		quote("no commit since its branch began")
	}
	if n := len(s.Work.Uncommitted); n > 0 {
		quote(errs.Counted(n, "file") + " not committed (A added, D deleted, M changed)")
		list(s.Work.Uncommitted, n)
	} else {
		quote("nothing that is not committed")
	}
	return out.String()
}

// outcomes counts the turns by how they ended, and numbers those that did not end well.
func (s State) outcomes() string {
	var order []string
	numbers := map[string][]int{}
	for _, r := range s.Turns {
		word := turnWord(r)
		if !slices.Contains(order, word) {
			order = append(order, word)
		}
		numbers[word] = append(numbers[word], r.Number)
	}
	var words []string
	for _, word := range order {
		said := fmt.Sprintf("%d %s", len(numbers[word]), word)
		if word != "success" {
			said += " (" + someNumbers(numbers[word]) + ")"
		}
		words = append(words, said)
	}
	return errs.Counted(len(s.Turns), "turn") + ": " + strings.Join(words, ", ")
}

// turnWord is how a turn ended, in a word.
func turnWord(r turn.Record) string {
	switch r.State {
	case turn.Aborted:
		return string(r.Reason)
	case turn.InProgress:
		return "without an end"
	default:
		return cmp.Or(r.Outcome, "finished")
	}
}

// BadEnd says how a turn ended that did not end well, "" for any other.
func BadEnd(r turn.Record) string {
	word := turnWord(r)
	switch {
	case r.State == turn.InProgress, word == "success", word == "finished":
		return ""
	case r.State == turn.Aborted && r.ErrorMessage != "":
		word += ": " + r.ErrorMessage
	}
	return fmt.Sprintf("turn %d: %s", r.Number, word)
}
