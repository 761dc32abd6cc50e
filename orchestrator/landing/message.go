package landing

import (
	"cmp"
	"fmt"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/turns"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
)

// titleWidth is how many characters a title that comes from a prompt has at most.
const titleWidth = 72

// messageFacts is what a message is made of.
type messageFacts struct {
	Session, Agent, CLI string // the CLI with its version, where that is known
	Said                string // what the agent said of its work, "" for nothing
	Commit              string // title of its last commit, "" for none
	Turns               []turns.Listed
	Asked               string // what the user gave as the message, "" for nothing
}

// factsFor are those of the work that the agent has done in these turns and commits.
func (c *composer) factsFor(brought []turns.Listed, own []worktree.CommitInfo) messageFacts {
	f := messageFacts{Session: c.session.Name, Agent: c.agent.Agent, CLI: c.agent.CLI, Turns: brought, Asked: c.asked}
	if done := c.agent.Done; done != nil && len(brought) > 0 && done.Turn == brought[len(brought)-1].Number {
		f.Said = done.Message
	}
	if len(own) > 0 {
		f.Commit = fault.FirstLine(own[len(own)-1].Message)
	}
	if c.version != nil {
		f.CLI = strings.TrimSpace(f.CLI + " " + c.version(brought))
	}
	return f
}

// uncommitted is the title of a commit of what the agent has not committed.
func (f messageFacts) uncommitted() string {
	return fmt.Sprintf("Uncommitted work of %s/%s", f.Session, f.Agent)
}

// title is the first line of a message: what the agent said, else its last commit, else the first prompt.
func (f messageFacts) title() string {
	prompt := ""
	if len(f.Turns) > 0 {
		prompt = cut(oneLine(f.Turns[0].Prompt))
	}
	return cmp.Or(cut(oneLine(f.Said)), oneLine(f.Commit), prompt, fmt.Sprintf("Work of %s/%s", f.Session, f.Agent))
}

// message is the whole text of a commit: the title, a line for each turn, and trailers.
func (f messageFacts) message() string {
	words, trailers := f.words(""), f.trailers()
	if text, found := strings.CutSuffix(words+"\n", "\n\n"+trailers); found { // of a message that was made before
		words = text
	}
	return words + "\n\n" + trailers
}

// words are what the user gave, else the title and a line for each turn, which bullet begins: a pull request has a list.
func (f messageFacts) words(bullet string) string {
	if asked := strings.TrimSpace(f.Asked); asked != "" {
		return asked
	}
	var lines []string
	for _, t := range f.Turns {
		if line := turnLine(t); line != "" {
			lines = append(lines, bullet+line)
		}
	}
	if len(lines) == 0 {
		return f.title()
	}
	return f.title() + "\n\n" + strings.Join(lines, "\n")
}

// trailers say whose work it is.
func (f messageFacts) trailers() string {
	text := fmt.Sprintf("Paw-Agent: %s/%s\n", f.Session, f.Agent)
	if len(f.Turns) > 0 {
		text += "Paw-Turns: " + ranges(f.Turns) + "\n"
	}
	return text + "Paw-CLI: " + f.CLI + "\n"
}

// turnLine is one turn in a message, "" for one that was not prompted by anybody.
func turnLine(t turns.Listed) string {
	prompt := cut(oneLine(t.Prompt))
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

// oneLine is the first line of a text that somebody else wrote, without what acts on a terminal. What git would take for
// the line of a comment or of a separator in an editor has no place in a message.
func oneLine(text string) string {
	return strings.TrimLeft(history.Printable(fault.FirstLine(strings.ToValidUTF8(text, "?"))), "# ")
}

// cut shortens a line to the width of a title.
func cut(line string) string {
	runes := []rune(line)
	if len(runes) <= titleWidth {
		return line
	}
	return strings.TrimSpace(string(runes[:titleWidth-1])) + "…"
}
