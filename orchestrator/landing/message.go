package landing

import (
	"cmp"
	"fmt"
	"strings"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session/turn"
)

// titleWidth limits the columns of a title that comes from a prompt.
const titleWidth = 72

type messageFacts struct {
	Session, Agent, CLI string   // CLI with its version, if known
	Said                string   // what the agent said with paw done, "" for nothing
	Commits             []string // titles of the agent's commits, oldest first
	Listed              bool     // list Commits in the message, because they do not land as commits
	Turns               []turns.Turn
	Again               string // title of a landing that is brought again, "" for none
	Asked               string // message from the user, "" for none
}

// title returns the first line of a message: what the agent said with paw done, else the first
// prompt that a person wrote, else the title of the agent's last commit, else the title of a
// landing that is brought again.
func (f messageFacts) title() string {
	title := display.Graphemes.Cut(oneLine(f.Said), titleWidth)
	for _, t := range f.Turns {
		title = cmp.Or(title, display.Graphemes.Cut(oneLine(t.Task()), titleWidth))
	}
	if n := len(f.Commits); n > 0 {
		title = cmp.Or(title, f.Commits[n-1])
	}
	return cmp.Or(title, f.Again, fmt.Sprintf("Work of %s/%s", f.Session, f.Agent))
}

// message returns the message of a commit: title, a line for each turn, and trailers.
func (f messageFacts) message() string {
	words, trailers := f.words(""), f.trailers()
	if text, found := strings.CutSuffix(words+"\n", "\n\n"+trailers); found { // the user gave a message that has the trailers already
		words = text
	}
	return words + "\n\n" + trailers
}

// words returns the user's message, else title, turns and commits. bullet begins the lines of
// turns.
func (f messageFacts) words(bullet string) string {
	if asked := strings.TrimSpace(f.Asked); asked != "" {
		return asked
	}
	shown := map[string]bool{f.title(): true}
	var lines []string
	for _, t := range f.Turns {
		if line := turnLine(t); line != "" {
			lines = append(lines, bullet+line)
			shown[display.Graphemes.Cut(oneLine(t.Task()), titleWidth)] = true
		}
	}
	text := f.title()
	for _, part := range [][]string{lines, f.commitLines(shown)} {
		if len(part) > 0 {
			text += "\n\n" + strings.Join(part, "\n")
		}
	}
	return text
}

// maxCommitLines limits the commits that a message lists.
const maxCommitLines = 20

// commitLines lists the titles of commits that do not land as commits, without the titles in shown.
func (f messageFacts) commitLines(shown map[string]bool) (lines []string) {
	if !f.Listed {
		return nil
	}
	for _, title := range f.Commits {
		if title != "" && !shown[title] {
			shown[title], lines = true, append(lines, "- "+title)
		}
	}
	if more := len(lines) - maxCommitLines; more > 0 {
		lines = append(lines[:maxCommitLines], "- "+errs.Counted(more, "other commit"))
	}
	return lines
}

// trailers say whose work a commit is.
func (f messageFacts) trailers() string {
	text := fmt.Sprintf("Paw-Agent: %s/%s\n", f.Session, f.Agent)
	if len(f.Turns) > 0 {
		text += "Paw-Turns: " + ranges(f.Turns) + "\n"
	}
	return text + "Paw-CLI: " + f.CLI + "\n"
}

// turnLine returns the line about a turn, "" if only paw wrote its prompt.
func turnLine(t turns.Turn) string {
	prompt := display.Graphemes.Cut(oneLine(t.Task()), titleWidth)
	if prompt == "" {
		return ""
	}
	how := t.Outcome
	if t.State == turn.Aborted {
		how = string(t.Reason)
	}
	if how == "" || how == "success" {
		return fmt.Sprintf("Turn %d: %s", t.Number, prompt)
	}
	return fmt.Sprintf("Turn %d (%s): %s", t.Number, oneLine(how), prompt)
}

// oneLine returns the first line of a text by somebody else, without control characters, and
// without a beginning that git would take for a comment.
func oneLine(text string) string {
	return strings.TrimLeft(display.Printable(display.FirstLine(strings.ToValidUTF8(text, "?"))), "# ")
}
