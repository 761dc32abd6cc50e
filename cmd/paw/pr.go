package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/landing"
)

type pullOptions struct {
	*invocation
	landing.PullOptions
	edit bool
}

func newPR(a *invocation) *cobra.Command {
	o := &pullOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "pr AGENT[@N]",
		Short: "Push an agent's branch and ask for a pull request",
		Long: exits(`Push the branch of an agent, and nothing else, and ask for a pull request with gh or glab. Where
neither is there, the address to ask at in the browser is printed. What the agent has not
committed goes along as a commit of its own, which the agent does not notice: its worktree,
index, HEAD and branch are not touched. Title and text come from the turns. Once more pushes
what is new; commits that somebody else has pushed to the branch are never overwritten.

This is the only command of paw that pushes.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw pr claude
  paw pr claude@3 --draft
  paw pr codex --base develop --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completes(completion.oneAgent),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVarP(&o.Draft, "draft", "d", false, "ask for a draft")
	f.BoolVarP(&o.Web, "web", "w", false, "fill in the form in the browser instead, where gh or glab is there")
	f.StringVar(&o.Base, "base", "", "branch it is meant for (default: the one the session was started from)")
	f.StringVar(&o.Message, "message", "", "title and, below it, text (default: from the turns)")
	f.BoolVar(&o.edit, "edit", false, "change title and text in your editor")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "look at the remote, say what would be done and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *pullOptions) run(cmd *cobra.Command, args []string) error {
	switch {
	case o.edit && o.Message != "":
		return usagef(cmd, "--message and --edit exclude each other")
	case o.Draft && o.Web:
		return usagef(cmd, "--draft and --web exclude each other: the form in the browser asks")
	}
	h, s, agent, number, err := o.agentAndTurn(cmd, args)
	if err != nil {
		return err
	}
	o.Turn = number
	if o.edit {
		o.Edit = orchestrator.MessageEditor(h, o.stdin, o.stderr, o.stderr)
	}
	o.Terminal = orchestrator.Terminal(h, o.stdin, o.stderr, o.json)
	done, err := landing.PullRequest(cmd.Context(), h, s, agent, o.PullOptions)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return o.printJSON(pulledView(done, o.DryRun, o.noted()))
	case o.DryRun && !done.Nothing:
		for _, line := range done.Plan {
			fmt.Fprintln(forReading(o.stdout), line)
		}
		return nil
	}
	fmt.Fprintln(forReading(o.stdout), done)
	return nil
}

type pullJSON struct {
	Version     int      `json:"version"`
	Session     string   `json:"session"`
	Agent       string   `json:"agent"`
	Result      string   `json:"result"` // asked, open, by_hand, browser, nothing or planned
	Remote      string   `json:"remote"`
	Branch      string   `json:"branch"`
	Base        string   `json:"base"`
	Commit      *string  `json:"commit"` // null if there is nothing to push
	Commits     int      `json:"commits"`
	Uncommitted int      `json:"uncommitted"` // number of files
	Pushed      bool     `json:"pushed"`
	Title       string   `json:"title"`
	Text        string   `json:"text"`
	URL         *string  `json:"url"`
	Plan        []string `json:"plan,omitempty"`
	Notes       []string `json:"notes"`
}

func pulledView(d *landing.Pulled, dryRun bool, notes []string) pullJSON {
	view := pullJSON{
		Version: 1, Session: d.Session, Agent: d.Agent, Result: "browser", Remote: d.Remote, Branch: d.Branch, Base: d.Base,
		Commits: d.Commits, Uncommitted: d.Uncommitted, Pushed: d.Pushed, Title: d.Title, Text: d.Text, Notes: notes,
	}
	switch {
	case d.Nothing:
		view.Result = "nothing"
		return view
	case dryRun:
		view.Result, view.Plan = "planned", d.Plan
	case d.Asked && d.Address != "":
		view.Result = "asked"
	case d.Open:
		view.Result = "open"
	case d.ByHand:
		view.Result = "by_hand"
	}
	view.Commit, view.URL = &d.Commit, orNull(d.Address)
	return view
}
