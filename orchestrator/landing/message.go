package landing

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session/turn"
	"paw/worktree/states"
)

type messageFacts struct {
	Session, Agent, CLI string   // CLI with its version, if known
	Said                string   // what the agent said with paw done, "" for nothing
	Commits             []string // titles of the agent's commits, oldest first
	Listed              bool     // list Commits in the message, because they do not land as commits
	Turns               []turns.Turn
	Asked               string        // message from the user, "" for none
	State               string        // snapshot that lands, "" for a commit that brings only a part of it
	Files               func() string // names the files that change, for a title where nothing else gives one
}

// title returns the first line of a message: what the agent said with paw done, else the first
// prompt that a person wrote, else the title of the agent's last commit, else the files that change.
func (f messageFacts) title() string {
	title := display.Graphemes.Cut(display.Title(f.Said), display.TitleWidth)
	for _, t := range f.Turns {
		title = cmp.Or(title, display.Graphemes.Cut(display.Title(t.Task()), display.TitleWidth))
	}
	if n := len(f.Commits); n > 0 {
		title = cmp.Or(title, f.Commits[n-1])
	}
	if title == "" && f.Files != nil {
		return f.Files()
	}
	return title
}

// titleOf names two files or, if there are more or their names are long, the folder that has them
// all, if there is one.
func titleOf(paths []string) string {
	title, folder := few(paths, 2), path.Dir(paths[0])
	for _, one := range paths {
		for folder != "." && !strings.HasPrefix(one, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	if folder != "." && (len(paths) > 2 || display.Graphemes.Width(title) > display.TitleWidth) {
		title = errs.Counted(len(paths), "file") + " in " + onOneLine(folder)
	}
	return display.Graphemes.Cut(title, display.TitleWidth)
}

// filesBetween returns a function that names the files that differ between two commits or trees.
func (w work) filesBetween(ctx context.Context, from, to string) func() string {
	return sync.OnceValue(func() string {
		paths, err := w.Repo.Objects().ChangedPaths(ctx, from, to)
		if err != nil || len(paths) == 0 {
			return w.name() // git says why, when the commit is made
		}
		return titleOf(paths)
	})
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
			shown[display.Graphemes.Cut(display.Title(t.Task()), display.TitleWidth)] = true
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
		text += "Paw-Turns: " + turns.Ranges(f.Turns) + "\n"
	}
	text += "Paw-CLI: " + f.CLI + "\n"
	if f.State != "" {
		text += states.Trailer + f.State[:states.ShortID] + "\n"
	}
	return text
}

// turnLine returns the line about a turn, "" if only paw wrote its prompt.
func turnLine(t turns.Turn) string {
	prompt := display.Graphemes.Cut(display.Title(t.Task()), display.TitleWidth)
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
	return fmt.Sprintf("Turn %d (%s): %s", t.Number, display.Title(how), prompt)
}

// withTrailer returns the message of a commit that the agent has made, with a Paw-State trailer after its other trailers,
// or without one for "". Trailers of that name that it had before are taken out.
func withTrailer(message, trailer string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimRight(message, "\n"), "\n"), func(line string) bool { return strings.HasPrefix(line, states.Trailer) })
	if trailer != "" {
		if name, _, is := strings.Cut(lines[len(lines)-1], ": "); len(lines) < 3 || !is || strings.Contains(name, " ") {
			lines = append(lines, "")
		}
		lines = append(lines, trailer)
	}
	return strings.Join(lines, "\n") + "\n"
}
