package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

type blameOptions struct {
	*invocation
	orchestrator.BlameOptions
	here bool
}

func newBlame(a *invocation) *cobra.Command {
	o := &blameOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "blame [AGENT[@N]] FILE[:LINE[-LINE]]",
		Short: "Say which turn or commit each line of a file came with",
		Long: exits(`Say of each line of a file in which turn of which agent it came, committed or not, or with
which commit. Without AGENT it is the file as it is in your checkout, with what has landed
told by its turns; in an agent's worktree, or with AGENT, it is that agent's file, as it is
now or was at the end of turn N. What changed in a worktree between two turns is "you";
what you type while a turn runs counts for the turn. FILE:LINE tells all about one line.`, exitUsage, exitNotFound),
		Example: `  paw blame src/main.go
  paw blame claude src/main.go:10-20
  paw blame claude@3 src/main.go:12`,
		Args: cobra.RangeArgs(1, 2),
		RunE: o.run,
	}
	cmd.Flags().BoolVar(&o.here, "here", false, "the file of this checkout, also in an agent's worktree")
	cmd.Flags().BoolVarP(&o.IgnoreSpace, "ignore-space", "w", false, "lines that differ in white space alone are the same")
	addState(cmd, &o.State)
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *blameOptions) run(cmd *cobra.Command, args []string) error {
	o.File = args[len(args)-1]
	h, s, err := o.blamed(cmd, args[:len(args)-1])
	if err != nil {
		return err
	}
	file, first, last, err := placeIn(cmd, o.File, func(name string) bool { return fileIn(whereOf(s, o.Agent), name) })
	if err != nil {
		return err
	}
	o.File, o.First, o.Last = file, first, last
	one := first > 0 && first == last
	lines, err := orchestrator.Blame(cmd.Context(), h, s, o.BlameOptions)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return o.printJSON(blameView(o.File, lines))
	case one && len(lines) == 1:
		o.printLine(lines[0])
		return nil
	}
	return o.paged(cmd.Context(), h, func() error {
		rows := append(make([][]cell, 0, len(lines)+1), heads("TURN", "CLI", "WHEN", "PROMPT", "", "LINE"))
		for _, line := range lines {
			cli, prompt := "", ""
			if line.Origin != nil {
				cli, prompt = line.Origin.CLI, columns.Cut(display.FirstLine(line.Origin.Prompt), promptWidth)
			}
			rows = append(rows, texts(bringer(line), cli, line.At.Local().Format(time.DateOnly), prompt, fmt.Sprint(line.Line), line.Text))
		}
		o.printTable(o.stdout, "", rows)
		return nil
	})
}

// blamed finds the session and the agent whose file is blamed, and completes the options with them.
// The session is nil for the file of the user's own checkout.
func (o *blameOptions) blamed(cmd *cobra.Command, agent []string) (*app.App, *session.Session, error) {
	switch {
	case len(agent) == 1 && o.here:
		return nil, nil, usagef(cmd, "--here takes no agent")
	case len(agent) == 0 && o.State != "":
		return nil, nil, usagef(cmd, "--state needs an agent")
	case len(agent) == 0 && cmd.Flag("session").Changed:
		return nil, nil, usagef(cmd, "--session needs an agent")
	}
	if len(agent) == 1 {
		h, s, name, number, err := o.agentAndTurn(cmd, agent)
		if err == nil && number != "" && o.State != "" {
			err = usagef(cmd, "--state is about the agent as it was shown, not about turn %s", number)
		}
		o.Agent, o.Turn, o.File = name, number, filepath.Clean(o.File)
		return h, s, err
	}
	h, err := o.paw()
	if err != nil || o.here {
		return h, nil, err
	}
	var s *session.Session
	s, o.Agent, o.File = orchestrator.AgentHere(h, o.File)
	return h, s, nil
}

// promptWidth limits the columns of a prompt in a table.
const promptWidth = 32

// bringer names the turn, the commit or the person that a line came from.
func bringer(line orchestrator.Blamed) string {
	o := line.Origin
	switch {
	case line.By == orchestrator.ByUncommitted:
		return "not committed"
	case o == nil:
		return line.Commit[:7] + " " + line.Author
	case o.By == orchestrator.ByYou && o.Before == 0:
		return "you, since"
	case o.By == orchestrator.ByYou:
		return fmt.Sprintf("you, before %d", o.Before)
	case o.First < o.Turn:
		return fmt.Sprintf("%s/%s %d-%d", o.Session, o.Agent, o.First, o.Turn)
	}
	return fmt.Sprintf("%s/%s %d", o.Session, o.Agent, o.Turn)
}

// printLine prints the origin of one line with its whole prompt.
func (o *blameOptions) printLine(line orchestrator.Blamed) {
	out := forReading(o.stdout)
	fmt.Fprintf(out, "%d  %s\n%s, %s\n", line.Line, line.Text, bringer(line), line.At.Local().Format(time.DateTime))
	origin := line.Origin
	if origin == nil || origin.By != orchestrator.ByTurn {
		return
	}
	fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(origin.Prompt))
	if answer := strings.TrimSpace(origin.Message); answer != "" {
		fmt.Fprintf(out, "\n%s\n", columns.Cut(display.FirstLine(answer), promptWidth))
	}
	if origin.Gone {
		return
	}
	name := errs.Quote(origin.Session + "/" + origin.Agent)
	fmt.Fprintf(out, "\npaw log %s --turn %d\npaw diff %s %d\n", name, origin.Turn, name, origin.Turn)
}

func blameView(file string, lines []orchestrator.Blamed) object {
	return object{{"version", 1}, {"file", file}, {"lines", objects(lines, func(line orchestrator.Blamed) object {
		o := orchestrator.LineOrigin{}
		commit, author := "", ""
		if line.Origin != nil {
			o = *line.Origin
		} else if line.By == orchestrator.ByCommit {
			commit, author = line.Commit, line.Author
		}
		return object{
			{"line", line.Line}, {"text", line.Text}, {"by", line.By}, {"session", orNull(o.Session)}, {"agent", orNull(o.Agent)}, {"cli", orNull(o.CLI)},
			{"turn", orNull(o.Turn)}, {"turn_first", orNull(o.First)}, {"before_turn", orNull(o.Before)}, {"prompt", orNull(o.Prompt)},
			{"commit", orNull(commit)}, {"author", orNull(author)}, {"at", line.At},
		}
	})}}
}

var fileAndLines = lazyregexp.New(`^(.+):([0-9]+)(?:[-,]([0-9]+))?$`)

// placeIn reads FILE, FILE:LINE or FILE:LINE-LINE. The lines are 0 for the whole file. whole
// reports whether there is a file whose name is all of the word.
func placeIn(cmd *cobra.Command, word string, whole func(string) bool) (file string, first, last int, err error) {
	found := fileAndLines().FindStringSubmatch(word)
	if found == nil || whole(word) {
		return word, 0, 0, nil
	}
	first, err = strconv.Atoi(found[2])
	last = first
	if found[3] != "" && err == nil {
		last, err = strconv.Atoi(found[3])
	}
	switch {
	case err != nil:
		return "", 0, 0, usagef(cmd, "%s: not the number of a line", word)
	case first == 0:
		return "", 0, 0, usagef(cmd, "%s: lines count from 1", word)
	case last < first:
		return "", 0, 0, usagef(cmd, "%s: ends before it begins", word)
	}
	return found[1], first, last, nil
}

// whereOf returns the worktree of an agent, "" for the current directory if s is nil.
func whereOf(s *session.Session, agent string) string {
	if s == nil {
		return ""
	}
	if w := s.Agent(agent); w != nil {
		return w.WorktreePath
	}
	return ""
}

func fileIn(dir, name string) bool {
	if dir != "" && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	_, err := os.Lstat(name)
	return err == nil
}
