package turn

import (
	"cmp"
	"fmt"
	"strings"
)

// Prompt is the text that began a turn, byte for byte. Show Words or Task to people; use string(p)
// to compare a prompt with a CLI's own record.
type Prompt string

// Words returns the text to show for a prompt: what a person or an agent wrote or, for a prompt
// written by paw, a short description.
func (p Prompt) Words() string {
	task, about := p.read()
	if task != "" {
		return task
	}
	return about
}

// Task returns what a person or an agent wrote, "" for a prompt written by paw.
func (p Prompt) Task() string {
	task, _ := p.read()
	return task
}

// Fixed parts of the prompts that paw writes, by which Prompt.Words and Prompt.Task recognise them.
// HandOverTask ends a prompt that hands over a conversation; the user's own prompt follows.
const (
	resultsBegin  = "[paw wait "
	resultsEnd    = "] "
	conflictBegin = "Your work conflicts with the branch "
	conflictEnd   = ". Bring that branch into yours and resolve the conflicts:"
	checkBegin    = "The check failed on your work: "
	checkEnd      = ". Please mend what it finds."
	reviewBegin   = "I have reviewed your changes and have "
	reviewEnd     = ". Please go through them one by one:"
	ciBegin       = "CI has failed on your pull request #"
	ciEnd         = " failed. Mend what your changes broke:"
	pullReview    = "Your pull request #"
	pullReviewEnd = " of its reviewers. Please go through them one by one:"
	handOverBegin = "You take over the work of another coding agent: "
	HandOverTask  = "This is the end of that conversation. Go on with this prompt of the user:\n\n"
	sentOnPrompt  = "goes on after its end" // for a turn without a prompt
	issueBegin    = "Issue #"
	pullBegin     = "Pull request #"
	threadAuthor  = " (text by "
	threadEnd     = "):"
	threadTitle   = "\n\n> "
)

// Starts of prompts that CLIs write: of claude and copilot when a background task has ended; of
// claude for a message from another of its sessions, after one line.
const (
	notificationBegin = "<task-notification>"
	messageBegin      = "<cross-session-message"
	maxMessageHead    = 200
)

// ResultsLine returns the first line of a prompt that tells a parent how its children ended. The
// wait's id in it shows whether the prompt has arrived.
func ResultsLine(id, headline string) string { return resultsBegin + id + resultsEnd + headline }

// ConflictLine returns the first line of a prompt that asks an agent to resolve conflicts with a
// branch.
func ConflictLine(branch string) string { return conflictBegin + branch + conflictEnd }

// CheckLine returns the first line of a prompt that asks an agent to fix what a check found.
func CheckLine(command, how string) string { return checkBegin + command + " (" + how + ")" + checkEnd }

// ReviewLine returns the first line of a prompt with review comments.
func ReviewLine(comments int) string { return reviewBegin + countedComments(comments) + reviewEnd }

// CILine returns the first line of a prompt with the checks that failed on a pull request.
func CILine(number, checks int) string {
	return fmt.Sprint(ciBegin, number, ": ", checks, ciEnd)
}

// CICommit returns the beginning of the commit whose failed checks a prompt has, "" for another prompt.
func (p Prompt) CICommit() string {
	if !strings.HasPrefix(string(p), ciBegin) {
		return ""
	}
	_, rest, _ := strings.Cut(string(p), "\nCommit: ")
	commit, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(commit)
}

// PullReviewLine returns the first line of a prompt with the comments of a pull request's reviewers.
func PullReviewLine(number, comments int) string {
	return fmt.Sprint(pullReview, number, " has ", countedComments(comments), pullReviewEnd)
}

// HandOverLine returns the first line of a prompt that hands over another agent's conversation.
func HandOverLine(cli, agent, branch string) string {
	return fmt.Sprintf("%s%s, agent %s, on branch %s.", handOverBegin, cli, agent, branch)
}

// read splits a prompt: task is the text that a person or an agent wrote, about describes a prompt
// written by paw or a CLI. One of the two is "".
func (p Prompt) read() (task, about string) {
	first, _, _ := strings.Cut(string(p), "\n")
	if id, ok := between(first, resultsBegin, resultsEnd); ok && !strings.Contains(id, " ") {
		return "", "results of the agents it waited for"
	}
	if branch, ok := between(first, conflictBegin, conflictEnd); ok {
		return "", "conflicts with " + branch
	}
	if command, ok := between(first, checkBegin, checkEnd); ok {
		return "", "check failed: " + command
	}
	if comments, ok := between(first, reviewBegin, reviewEnd); ok {
		return "", "review: " + comments
	}
	if failed, ok := between(first, ciBegin, ciEnd); ok {
		return "", "CI failed on #" + failed
	}
	if comments, ok := between(first, pullReview, pullReviewEnd); ok {
		return "", "review of #" + strings.Replace(comments, " has ", ": ", 1)
	}
	if title, ok := threadIn(string(p), first); ok {
		return title, ""
	}
	if from, ok := strings.CutPrefix(first, handOverBegin); ok {
		if at := strings.LastIndex(string(p), HandOverTask); at >= 0 {
			return string(p[at+len(HandOverTask):]), ""
		}
		return "", "takes over from " + strings.TrimSuffix(from, ".")
	}
	if p == sentOnPrompt {
		return "", sentOnPrompt
	}
	if strings.HasPrefix(first, notificationBegin) {
		summary := within(string(p), "<summary>", "</summary>")
		return "", cmp.Or(strings.Join(strings.Fields(summary), " "), "a background task has ended")
	}
	if head, _, ok := strings.Cut(string(p), messageBegin); ok && strings.Count(head, "\n") < 2 && len(head) < maxMessageHead {
		tag := within(string(p), messageBegin, ">")
		name := within(tag, ` from-name="`, `"`)
		address := within(tag, ` from="`, `"`)
		said := within(string(p), ">", "</cross-session-message>")
		return "", "message from " + cmp.Or(name, address, "another session") + ": " + strings.TrimSpace(said)
	}
	return string(p), ""
}

// ThreadLine returns the line above the quoted title and text of an issue or a pull request.
func ThreadLine(pull bool, number int, author string) string {
	begin := issueBegin
	if pull {
		begin = pullBegin
	}
	return fmt.Sprint(begin, number, threadAuthor, author, threadEnd)
}

// threadIn returns title and number of the issue or pull request that a prompt consists of.
func threadIn(prompt, first string) (string, bool) {
	number, ok := between(first, issueBegin, threadAuthor)
	if !ok {
		number, ok = between(first, pullBegin, threadAuthor)
	}
	rest, quoted := strings.CutPrefix(prompt, first+threadTitle)
	if !ok || !quoted || !strings.HasSuffix(first, threadEnd) {
		return "", false
	}
	title, _, _ := strings.Cut(rest, "\n")
	return title + " (#" + number + ")", true
}

// within returns the text between the first begin and the next end.
func within(text, begin, end string) string {
	_, rest, _ := strings.Cut(text, begin)
	inner, _, _ := strings.Cut(rest, end)
	return inner
}

// between returns the text between a line's begin, where it must start, and the next end.
func between(line, begin, end string) (string, bool) {
	rest, ok := strings.CutPrefix(line, begin)
	if !ok {
		return "", false
	}
	text, _, ok := strings.Cut(rest, end)
	return text, ok
}

func countedComments(n int) string {
	if n == 1 {
		return "1 comment"
	}
	return fmt.Sprintf("%d comments", n)
}
