// Package handover writes a brief: the first prompt of an agent that takes over from another one,
// with what that agent had done, and what was said, in paths of the new worktree.
//
// It is pure: it imports sessions, turns and histories, and reads no files. Begin with Brief and
// Build.
package handover

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree/objects"
)

// Brief is the content of the first prompt of an agent that takes over a conversation from another
// CLI.
type Brief struct {
	Agent, CLI, Branch string // agent that hands the conversation over
	Turn               int    // turn at whose end the new agent starts
	Messages           []history.Message
	Ends               map[int]string // how turns ended that did not end well, by the index of the turn's last message
	Elsewhere          []int          // earlier turns in other conversations
	State              State
	Paths              *Relocation // translates paths of the old worktree to the new one
	Prompt             string      // the user's prompt for the new agent, "" for none
	Limit              int         // maximal length in bytes, without Prompt
}

// head returns the text before the conversation. It must be called after the paths were translated,
// which counts them.
func (b Brief) head() string {
	head := turn.HandOverLine(b.CLI, b.Agent, b.Branch) + fmt.Sprintf(`
This worktree starts where its turn %d ended: on the same commit, with the files that it had not committed.
`, b.Turn)
	if b.Paths != nil && b.Paths.count > 0 {
		head += "It worked in a worktree of its own, which is not yours: paths in that are written below as paths in yours, " + b.Paths.to + ".\n"
	}
	if state := b.State.text(b.Limit / 4); state != "" {
		head += "\nThis is what it had done by then:\n" + state + "\n"
	}
	if n := len(b.Elsewhere); n > 0 {
		were := "were"
		if n == 1 {
			were = "was"
		}
		head += fmt.Sprintf("%s (%s) %s in another conversation, as after /clear: what was said there is not told here.\n",
			errs.Counted(n, "earlier turn"), someNumbers(b.Elsewhere), were)
	}
	return head + "What was said until then follows, for you to know. Do not answer it, and do not do again what it asks for.\n\n"
}

func (b Brief) foot() string {
	if b.Prompt == "" {
		return "This is the end of that conversation. Do nothing yet: answer only that you are ready, and wait for the user's next prompt.\n"
	}
	return turn.HandOverTask
}

// cuts are the lengths, in bytes, to which texts are cut in successive attempts.
var cuts = []int{math.MaxInt, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10, 512, 256, 128, 64, 0}

// Build writes the brief, in at most Limit bytes plus Prompt, and returns how many messages it
// contains.
//
// If the conversation is too long, results of tools are cut first, all to the same length; then the
// oldest messages are dropped, except the first prompt, the last prompt and the last answer; then
// these are cut.
func Build(b Brief) (text string, told int) {
	parts := parts(b)
	head, foot := b.head(), b.foot()
	room := b.Limit - len(head) - len(foot)
	for _, most := range cuts {
		if told := tell(parts, most, math.MaxInt); len(told) <= room {
			return head + told + foot + b.Prompt, len(parts)
		}
	}
	parts = dropOldest(parts, room)
	for _, p := range parts {
		if p.gap == 0 {
			told++
		}
	}
	for _, most := range cuts {
		if text := tell(parts, 0, most); len(text) <= room {
			return head + text + foot + b.Prompt, told
		}
	}
	return head + foot + b.Prompt, 0
}

// dropOldest drops the oldest messages until the rest fits without tool results. A gap replaces
// each run of dropped messages.
func dropOldest(parts []part, room int) []part {
	const gaps = 3 * 64 // bytes for the highest possible number of gaps
	left := gaps + len(tell(parts, 0, math.MaxInt))
	var kept []part
	for _, p := range parts {
		if left <= room || p.keep {
			kept = append(kept, p)
			continue
		}
		left -= len(p.tell(0, math.MaxInt))
		if n := len(kept); n > 0 && kept[n-1].gap > 0 {
			kept[n-1].gap++
		} else {
			kept = append(kept, part{gap: 1})
		}
	}
	return kept
}

// cutText cuts a text to most bytes and notes how many are left out, unless the note would be as
// long as the rest.
func cutText(text string, most int) string {
	kept := display.Prefix(text, most)
	cut := strings.TrimSpace(kept + fmt.Sprintf("\n[%d bytes left out]", len(text)-len(kept)))
	if len(cut) >= len(text) {
		return text
	}
	return cut
}

// cutLine puts a text into one line of at most most bytes, and "..." if it was longer.
func cutLine(text string, most int) string {
	line := display.Words(text)
	if len(line) > most {
		return display.Prefix(line, most) + "..."
	}
	return line
}

// someNumbers lists numbers of turns, only the first of many.
func someNumbers(numbers []int) string {
	const most = 20
	var words []string
	for _, n := range numbers[:min(most, len(numbers))] {
		words = append(words, fmt.Sprint(n))
	}
	if len(numbers) > most {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}

// longestCall is how many bytes of a tool call are quoted.
const longestCall = 240

// part is one message of a brief, or a gap.
type part struct {
	title  string // name of the speaker
	text   string
	calls  string // a line for each tool call
	ended  string // how the turn ended that ends with this message, "" if well
	result bool   // the message is the result of a tool
	keep   bool   // never dropped
	gap    int    // number of dropped messages that the gap replaces
}

// parts converts the messages. It removes control characters, since a brief may be typed into a
// terminal, and translates paths to the new worktree.
func parts(b Brief) []part {
	titles := map[history.Role]string{history.RoleUser: "User", history.RoleAssistant: b.CLI, history.RoleSystem: "Note"}
	tools := map[string]string{} // names of tools, by the id of the call
	parts := make([]part, len(b.Messages))
	first, last, answer := -1, -1, -1
	for i, m := range b.Messages {
		p := part{title: titles[m.Role], text: strings.TrimSpace(b.printable(m.Content)), result: m.Role == history.RoleTool}
		if p.result {
			p.title = strings.TrimSpace("Result of " + tools[m.ToolCallID])
		}
		for _, call := range m.ToolCalls {
			tools[call.ID] = display.Words(call.Name)
			p.calls += "→ " + cutLine(call.Name+" "+b.printable(call.Arguments), longestCall) + "\n"
		}
		if end := b.Ends[i]; end != "" {
			p.ended = cutLine(b.printable(end), longestCall)
		}
		switch {
		case m.Role == history.RoleUser:
			if last = i; first < 0 {
				first = i
			}
		case m.Role == history.RoleAssistant && p.text != "":
			answer = i
		}
		parts[i] = p
	}
	for _, i := range []int{first, last, answer} {
		if i >= 0 {
			parts[i].keep = true
		}
	}
	return parts
}

// printable returns a text that is safe for a terminal, with paths of the new worktree.
func (b Brief) printable(text string) string {
	text = display.Printable(text)
	if b.Paths == nil {
		return text
	}
	return b.Paths.text(text)
}

// tell writes parts, with at most result bytes of each tool result and text bytes of each other
// text.
func tell(parts []part, result, text int) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.tell(result, text))
	}
	return out.String()
}

// tell writes a part as a quotation, so that no line of it looks like a line of the brief or of the
// prompt after it.
func (p part) tell(result, text int) string {
	if p.gap > 0 {
		return fmt.Sprintf("[%s left out here]\n\n", errs.Counted(p.gap, "message"))
	}
	most := text
	if p.result {
		most = min(result, text)
	}
	content := cutText(p.text, most)
	if calls := cutText(p.calls, text); calls != "" {
		content = strings.TrimSpace(content + "\n" + calls)
	}
	var out strings.Builder
	out.WriteString(p.title + ":\n")
	for line := range strings.Lines(content) {
		out.WriteString("> " + strings.TrimSuffix(line, "\n") + "\n")
	}
	if p.ended != "" {
		out.WriteString("\nHow this turn ended:\n> " + p.ended + "\n")
	}
	return out.String() + "\n"
}

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
