package handover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session/turn"
	"paw/worktree/objects"
)

// State is the work of an agent up to the end of a turn.
type State struct {
	Turns []turn.Record // turns up to the end of that turn
	Work  *objects.Work
}

// MostListed is the number of commits, and of files, that a brief lists.
const MostListed = 40

// longestListed limits how many bytes of a commit's title or a file's name are quoted.
const longestListed = 200

// text returns the state in quoted lines of at most limit bytes: lists are shortened, or the whole
// text is "".
func (s State) text(limit int) string {
	for _, most := range []int{MostListed, 20, 10, 5, 2, 0} {
		if text := s.lines(most); len(text) <= limit {
			return text
		}
	}
	return ""
}

// lines returns the quoted lines, with at most most items in each list.
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

// outcomes counts the turns by outcome, with the numbers of those that did not end well.
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

// turnWord returns the outcome of a turn in one word.
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

// BadEnd describes the end of a turn that did not end well, "" for others.
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
