package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/review"
	"paw/orchestrator/typing"
	"paw/session"
)

type reviewOptions struct {
	*invocation
	on                     string
	base, list, drop, send bool
}

func newReview(a *invocation) *cobra.Command {
	o := &reviewOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "review [AGENT[@N]...] [N | N..M] [--on PATH[:LINE[-LINE]] TEXT...]",
		Short: "Comment on what an agent has done, and send it all as one prompt",
		Long: exits(`Open what is new since you looked last in your editor, or all since the agent's base, or what
turn N changed. Lines that begin with > are comments on the line above. When you leave the
editor they are sent together, as one prompt with the files, the lines and what you said,
and what you saw is marked as seen. With --on a comment is kept for later instead. Comments
on lines that have changed since are sent with what the lines were. Of several agents one
comes after the other. Without AGENT it is the one whose worktree you stand in, or the
session's only one.`, exitUsage, exitRefused,
			"6    the prompt was typed, and not confirmed; the comments are kept", exitNotFound, exitLocked, exitMissing),
		Example: `  paw review claude
  paw review claude --base
  paw review claude --on src/a.go:10-12 "why twice?"
  paw review claude --list
  paw review claude --send`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.agentAndTurn),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.on, "on", "", "keep a comment on PATH, PATH:LINE or PATH:LINE-LINE; the rest of the words is its text")
	f.BoolVar(&o.base, "base", false, "all since the agent's base, seen or not")
	f.BoolVar(&o.list, "list", false, "the comments that are kept")
	f.BoolVar(&o.drop, "drop", false, "forget them")
	f.BoolVar(&o.send, "send", false, "send them")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *reviewOptions) run(cmd *cobra.Command, args []string) error {
	for _, flag := range []string{"on", "base", "list", "drop", "send"} {
		if err := alone(cmd, flag); err != nil {
			return err
		}
	}
	words := args
	switch {
	case o.on == "" && cmd.Flags().Changed("on"):
		return usagef(cmd, "--on: is empty")
	case o.on != "":
		words = args[:min(len(args), 1)]
	case len(args) == 2 && isTurns(args[1]): // AGENT N, as in paw diff
		words = []string{args[0] + "@" + args[1]}
	}
	if strings.Contains(strings.Join(words, " "), "..") {
		return o.reviewRange(cmd, args)
	}
	return o.eachAgent(cmd, words, func(h *app.App, s *session.Session, agent, number string) error {
		switch {
		case o.on != "":
			return o.addComment(cmd, h, s, agent, strings.Join(args[len(words):], " "))
		case o.list:
			return o.listComments(h, s, agent)
		case o.drop:
			if err := orchestrator.DropComments(cmd.Context(), h, s, agent); err != nil {
				return err
			}
			if o.json {
				return o.listComments(h, s, agent)
			}
			o.note(agent + ": its comments are dropped")
			return nil
		case o.send:
			return o.sendComments(cmd, h, s, agent)
		case number != "" && o.base:
			return usagef(cmd, "--base is about the agent as it is now, and not about turn %s", number)
		}
		return o.edit(cmd, h, s, agent, orchestrator.DiffOptions{Range: number, Unseen: number == "" && !o.base})
	})
}

// reviewRange opens the changes of several turns of one agent.
func (o *reviewOptions) reviewRange(cmd *cobra.Command, args []string) error {
	h, s, agent, number, err := o.agentAndTurn(cmd, args)
	switch {
	case err != nil:
		return err
	case o.base || !isTurns(number):
		return usagef(cmd, "%s: not the number of a turn", number)
	}
	return o.edit(cmd, h, s, agent, orchestrator.DiffOptions{Range: number})
}

// edit opens a diff in the user's editor, and sends the comments that the user wrote.
func (o *reviewOptions) edit(cmd *cobra.Command, h *app.App, s *session.Session, agent string, what orchestrator.DiffOptions) error {
	ctx := cmd.Context()
	compared, err := orchestrator.Compare(ctx, h, s, agent, what)
	if err != nil {
		return err
	}
	defer compared.Close()
	var patch bytes.Buffer
	if err := compared.Patch(ctx, what, &patch); err != nil {
		return err
	}
	if patch.Len() == 0 {
		return o.tell(s, nil, fmt.Sprintf("%s: nothing to review; %s shows all that it has done", agent, errs.Line("paw review %s --base", agent)))
	}
	comments, err := orchestrator.EditReview(ctx, h, compared, patch.String(), o.stdin, forChild(o.stdout), o.stderr)
	if err != nil {
		return err
	}
	if len(comments) == 0 {
		return o.tell(s, nil, agent+": no comment, nothing was sent")
	}
	if err := orchestrator.AddComments(ctx, h, s, agent, comments...); err != nil {
		return err
	}
	if err := o.sendComments(cmd, h, s, agent); err != nil {
		return err
	}
	if what.Range == "" {
		_, err = compared.MarkSeen(ctx)
	}
	return err
}

// addComment saves a comment on the place that --on names.
func (o *reviewOptions) addComment(cmd *cobra.Command, h *app.App, s *session.Session, agent, text string) error {
	c := review.Comment{Text: text}
	var err error
	c.Path, c.First, c.Last, err = placeIn(cmd, o.on, func(name string) bool { return fileIn(whereOf(s, agent), name) })
	if err != nil {
		return err
	}
	if text == "" {
		content, err := io.ReadAll(o.stdin)
		if err != nil {
			return err
		}
		c.Text = strings.TrimSpace(string(content))
	}
	if err := orchestrator.AddComments(cmd.Context(), h, s, agent, c); err != nil {
		return err
	}
	if o.json {
		return o.listComments(h, s, agent)
	}
	fmt.Fprintf(o.stdout, "%s: kept; %s sends it\n", agent, errs.Line("paw review %s --send", agent))
	return nil
}

func (o *reviewOptions) sendComments(cmd *cobra.Command, h *app.App, s *session.Session, agent string) error {
	sent, err := orchestrator.SendComments(cmd.Context(), h, s, agent)
	if err != nil {
		return err
	}
	return o.tell(s, sent, agent+": there is no comment to send")
}

// tell prints what was sent or, for nil, why nothing was.
func (o *reviewOptions) tell(s *session.Session, sent *typing.Sent, otherwise string) error {
	var all []*typing.Sent
	if sent != nil {
		all, otherwise = append(all, sent), sent.String()
	}
	return o.show(o.sentView(s.Name, all), otherwise)
}

func (o *reviewOptions) listComments(h *app.App, s *session.Session, agent string) error {
	kept, err := orchestrator.ReadComments(h, s, agent)
	if err != nil {
		return err
	}
	if o.json {
		type comment struct {
			review.Comment
			Stale bool `json:"stale"`
		}
		var comments []comment
		for i, c := range kept.List {
			comments = append(comments, comment{c, kept.Stale[i]})
		}
		return o.printJSON(object{{"version", 1}, {"session", s.Name}, {"agent", agent}, {"comments", comments}})
	}
	if len(kept.List) == 0 {
		o.note(agent + ": no comment is kept")
	}
	out := forReading(o.stdout)
	for i, c := range kept.List {
		stale := ""
		if kept.Stale[i] {
			stale = " (stale: " + c.Since() + ")"
		}
		fmt.Fprintf(out, "%s%s\n", c.Place(), stale)
		for line := range strings.Lines(c.Text) {
			fmt.Fprintf(out, "  %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return nil
}

// Comment keeps a comment on lines of a diff.
func (d *desk) Comment(ctx context.Context, a ui.Agent, diff string, first, last int, text string) (place string, err error) {
	if a.Far {
		return "", errors.New("comments on it are kept where it is: paw review " + a.Key())
	}
	s, err := d.home.Load(a.Session)
	if err != nil {
		return "", err
	}
	c := review.On(diff, first, last, text)
	return c.Place(), orchestrator.AddComments(ctx, d.home, s, a.Name, c)
}

// Comments returns the comments on an agent's work that were not sent yet.
func (d *desk) Comments(_ context.Context, a ui.Agent, diff string) ([]ui.Comment, error) {
	if a.Far {
		return nil, errors.New("comments on it are kept where it is: paw review " + a.Key())
	}
	s, err := d.home.Load(a.Session)
	if err != nil {
		return nil, err
	}
	kept, err := orchestrator.ReadComments(d.home, s, a.Name)
	if err != nil {
		return nil, err
	}
	lines := review.Lines(diff, kept.List)
	var comments []ui.Comment
	for i, c := range kept.List {
		id, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		comments = append(comments, ui.Comment{Place: display.OneLine(c.Place()), Text: c.Text, Stale: kept.Stale[i], Line: lines[i], ID: string(id)})
	}
	return comments, nil
}

// ChangeComment replaces the text of a comment; an empty text deletes the comment.
func (d *desk) ChangeComment(ctx context.Context, a ui.Agent, old ui.Comment, text string) error {
	s, err := d.home.Load(a.Session)
	if err != nil {
		return err
	}
	var c review.Comment
	if err := json.Unmarshal([]byte(old.ID), &c); err != nil {
		return err
	}
	return orchestrator.ChangeComment(ctx, d.home, s, a.Name, c, text)
}

// Draft returns the prompt that the user began for an agent and did not send.
func (d *desk) Draft(key string) string {
	s, agent, _ := strings.Cut(key, "/")
	return d.home.Texts().Draft(s, agent)
}

// KeepDraft saves a prompt that was begun; an empty text deletes the draft.
func (d *desk) KeepDraft(key, text string) error {
	s, agent, _ := strings.Cut(key, "/")
	return d.home.Texts().KeepDraft(s, agent, text)
}
