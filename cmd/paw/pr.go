package main

import (
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
)

type pullOptions struct {
	*invocation
	landing.PullOptions
	edit bool
}

// ghWords maps words behind gh pr to the command that does the same.
var ghWords = map[string]string{"create": "paw pr", "list": "gh pr list", "status": "gh pr status", "view": "gh pr view"}

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

Without --base a request that is open keeps its base, and goes into your branch once the server has merged the
request of the agent on whose branch it was.

Only this, paw land --push and paw queue add --push push.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw pr claude
  paw pr claude@3 --draft
  paw pr codex --base develop --dry-run`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && ghWords[args[0]] != "" && a.sessionHere().Agent(args[0]) == nil {
				line := []string{ghWords[args[0]]}
				for _, word := range args[1:] {
					line = append(line, errs.Quote(word))
				}
				return errs.New(errs.Usage, "%s: paw pr takes an agent", args[0]).Hint("%s", strings.Join(line, " "))
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
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
	text := done.String()
	if o.DryRun && !done.Nothing {
		text = strings.Join(done.Plan, "\n")
	}
	return o.show(pulledView(done, o.DryRun, o.noted()), text)
}

// pulledView returns a pull request. The result is asked, open, by_hand, browser, nothing or planned.
func pulledView(d *landing.Pulled, dryRun bool, notes []string) object {
	result, commit, url, plan := "browser", any(d.Commit), orNull(d.Address), absent
	switch {
	case d.Nothing:
		result, commit, url = "nothing", nil, nil
	case dryRun:
		result, plan = "planned", d.Plan
	case d.Asked && d.Address != "":
		result = "asked"
	case d.Open:
		result = "open"
	case d.ByHand:
		result = "by_hand"
	}
	return object{
		{"version", 1}, {"session", d.Session}, {"agent", d.Agent}, {"result", result}, {"remote", d.Remote}, {"branch", d.Branch}, {"base", d.Base},
		{"commit", commit}, {"commits", d.Commits}, {"uncommitted", d.Uncommitted}, {"pushed", d.Pushed}, {"title", d.Title}, {"text", d.Text},
		{"url", url}, {"plan", plan}, {"notes", notes},
	}
}
