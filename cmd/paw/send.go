package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
)

type sendOptions struct {
	startOptions // flags for the prompt
	all, edit    bool
	queued       bool
	noWait       bool
	conflict     bool
	into         string
	ci, review   bool
	yes          bool
	before       int // with ci and review: turn that has got the same prompt, as its user knows
}

func newSend(a *invocation) *cobra.Command {
	o := &sendOptions{startOptions: startOptions{invocation: a}}
	cmd := &cobra.Command{
		Use:   "send AGENT[,AGENT...] | --all [TEXT...]",
		Short: "Type a prompt into an agent's pane, and confirm that it arrived",
		Long: exits(`Type a prompt into an agent's pane and wait for the CLI's own word that it arrived.
Without TEXT the prompt is read from standard input. It waits for a CLI that is
still starting and never types into a permission dialog. Quote a TEXT that has words
beginning with a dash. --all sends it to each agent of the session whose CLI runs.`, exitUsage,
			"3    nothing typed: it asks, a menu is open, or its box or pane is not free", "6    the prompt was typed, but nothing says that it arrived", exitNotFound, exitLocked, exitMissing),
		Example: `  paw send claude fix the failing test
  paw send claude "what does the flag --stat do?"
  paw send --all "run the tests again"
  paw send codex --prompt-file prompt.md
  paw send claude --edit
  paw send claude --issue 12 "small steps, please"
  paw send claude --conflict
  paw send claude --ci`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.oneAgent),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVarP(&o.all, "all", "a", false, "to each agent of the session whose CLI runs")
	addPromptFlags(cmd, a, &o.Prompt, &o.promptFlags, "the prompt")
	f.BoolVar(&o.edit, "edit", false, "write the prompt in your editor")
	f.BoolVar(&o.queued, "queued", false, "send what is kept for the agent, and again what was queued when it was stopped or crashed")
	f.BoolVar(&o.noWait, "no-wait", false, "do not wait for the confirmation")
	f.BoolVar(&o.conflict, "conflict", false, "ask it to bring in the branch that its work conflicts with, and to resolve that")
	f.StringVar(&o.into, "into", "", "with --conflict: that branch (default: the one the session was started from)")
	f.BoolVar(&o.ci, "ci", false, "send the failed checks of its pull request, once you have seen the prompt (gh, glab)")
	f.BoolVar(&o.review, "review", false, "send the open threads of the reviews of its pull request, once you have seen the prompt")
	f.BoolVarP(&o.yes, "yes", "y", false, "with --ci and --review: do not ask")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *sendOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agents, text, err := o.recipients(cmd, args)
	if err != nil {
		return err
	}
	if o.queued {
		return o.sendQueued(cmd, h, s, agents, text)
	}
	prompt, err := o.promptFor(cmd, h, s, agents, text)
	if err != nil {
		return err
	}
	if o.ci || o.review {
		unlock, err := h.Hold(cmd.Context(), h.Locks.Pull, s.Name, agents[0])
		if err != nil {
			return err
		}
		defer unlock()
		if now := forge.SentIn(h, s, agents[0], prompt); now != o.before { // another terminal has been first
			return errs.New(errs.Refused, "%s/%s: turn %d was sent just this", s.Name, agents[0], now).Hint("paw log %s/%s --turn %d", s.Name, agents[0], now)
		}
	}
	var all []*typing.Sent
	for i, agent := range agents {
		sent, err := orchestrator.Send(cmd.Context(), h, s, agent, prompt, !o.noWait)
		if err != nil {
			if o.json && i > 0 {
				err = errors.Join(err, o.printJSON(o.sentView(s.Name, all)))
			}
			return leftToSend(cmd, err, s.Name, agents[:i], agents[i:], text)
		}
		if all = append(all, sent); !o.json {
			fmt.Fprintln(o.stdout, sent)
		}
	}
	if o.json {
		return o.printJSON(o.sentView(s.Name, all))
	}
	return nil
}

// sendQueued sends the prompts that were queued in the agents' CLIs when these ended.
func (o *sendOptions) sendQueued(cmd *cobra.Command, h *app.App, s *session.Session, agents, text []string) error {
	if len(text) > 0 || o.Prompt != "" || o.given() || o.conflict || o.edit || o.ci || o.review {
		return usagef(cmd, "--queued takes no other prompt")
	}
	var all []*typing.Sent
	for _, agent := range agents {
		before := len(all)
		err := orchestrator.SendAgain(cmd.Context(), h, s, agent, !o.noWait, func(sent *typing.Sent) {
			if all = append(all, sent); !o.json {
				fmt.Fprintln(o.stdout, sent)
			}
		})
		if err != nil {
			return err
		}
		if len(all) == before && !o.json {
			fmt.Fprintf(o.stdout, "%s: nothing was queued\n", agent)
		}
	}
	if o.json {
		return o.printJSON(o.sentView(s.Name, all))
	}
	return nil
}

// recipients returns the agents that get the prompt, and the words of the prompt.
func (o *sendOptions) recipients(cmd *cobra.Command, args []string) (*app.App, *session.Session, []string, []string, error) {
	if !o.all {
		if len(args) == 0 {
			h, s, agent, err := o.oneAgent(cmd, nil)
			return h, s, []string{agent}, nil, err
		}
		h, s, agents, err := o.agents(cmd, args[:1])
		if err != nil {
			return nil, nil, nil, nil, err
		}
		if err := app.RequireAgents(s, agents...); err != nil {
			return nil, nil, nil, nil, err
		}
		if err := o.refuseNames(cmd, h.Place(), s, args); err != nil && cmd.ArgsLenAtDash() != 1 {
			return nil, nil, nil, nil, err
		}
		return h, s, app.Once(agents), args[1:], nil
	}
	h, s, err := o.session(cmd)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	here := h.Getenv("PAW_AGENT")
	agents := agentsThat(cmd.Context(), h, s, func(ag observe.AgentStatus) bool {
		itself := h.Getenv("PAW_SESSION") == s.Name && ag.Record.Name == here
		return ag.PID != 0 && !itself
	})
	if len(agents) == 0 {
		return nil, nil, nil, nil, errs.New(errs.Refused, "%s: no agent of it runs", s.Name).Hint("paw recover %s", s.Name)
	}
	return h, s, agents, args, nil
}

func (o *sendOptions) promptFor(cmd *cobra.Command, h *app.App, s *session.Session, agents, text []string) (string, error) {
	given := countTrue(len(text) > 0, o.Prompt != "", o.promptFile != "", o.conflict, o.ci, o.review)
	switch {
	case (o.conflict || o.ci || o.review) && (given > 1 || len(agents) > 1 || o.edit || o.template+o.issue != ""):
		return "", usagef(cmd, "--conflict, --ci and --review take one agent and no text")
	case o.yes && !o.ci && !o.review:
		return "", usagef(cmd, "--yes goes with --ci and --review")
	case o.ci || o.review:
		return o.promptBack(cmd, h, s, agents[0])
	case given > 1:
		return "", usagef(cmd, "TEXT, --prompt and --prompt-file: give one of them")
	case o.conflict:
		return landing.ConflictPrompt(cmd.Context(), h, s, agents[0], o.into)
	case o.into != "":
		return "", usagef(cmd, "--into goes with --conflict")
	}
	if err := o.readPrompt(o.stdin); err != nil {
		return "", err
	}
	prompt := o.Prompt
	if len(text) > 0 {
		prompt = strings.Join(text, " ")
	}
	if given == 0 && o.template+o.issue == "" && !o.edit {
		prompt, err := o.typedPrompt(cmd.Context())
		return prompt, cmp.Or(err, requireText(prompt))
	}
	if err := requireText(prompt); err != nil {
		return "", err
	}
	configured, err := h.ConfiguredFor(s)
	if err != nil {
		return "", err
	}
	issue, err := o.issueText(cmd.Context(), h, s.RepoPath)
	if err != nil {
		return "", err
	}
	if prompt, err = o.withWords(configured, prompt, issue); err != nil || !o.edit {
		return prompt, err
	}
	return orchestrator.EditPrompt(cmd.Context(), h, prompt, o.stdin, o.stderr, o.stderr)
}

// promptBack returns what the server says of an agent's pull request as a prompt, once the user has seen it.
func (o *sendOptions) promptBack(cmd *cobra.Command, h *app.App, s *session.Session, agent string) (string, error) {
	from := forge.ReviewPrompt
	if o.ci {
		from = forge.CIPrompt
	}
	prompt, err := from(cmd.Context(), h, s, agent)
	if err != nil {
		return "", err
	}
	who, question := s.Name+"/"+agent, "send this to "+agent+"?"
	switch before := forge.SentIn(h, s, agent, prompt); {
	case o.yes, before > 0 && !o.interactive(): // nobody to agree to the same again
		return prompt, nil
	case before > 0:
		o.before, question = before, fmt.Sprintf("turn %d of %s was sent just this; send it again?", before, agent)
	}
	fmt.Fprint(o.stderr, prompt)
	return prompt, o.confirm(cmd.Context(), question, errs.Line("paw send %s --%s --yes", who, map[bool]string{true: "ci", false: "review"}[o.ci]))
}

// refuseNames refuses a prompt whose first word is the name of another agent of the session: the
// user may have meant to send the prompt to that agent as well. A quoted text of several words, and
// any text after --, is a prompt.
func (a *invocation) refuseNames(cmd *cobra.Command, here app.Place, s *session.Session, args []string) error {
	if len(args) < 2 {
		return nil
	}
	agents, more := eachOf(args[:1]), eachOf(args[1:2])
	for i, word := range more {
		more[i] = strings.TrimPrefix(word, s.Name+"/")
		if s.Agent(more[i]) == nil || slices.Contains(agents, word) || slices.Contains(agents, s.Name+"/"+more[i]) {
			return nil
		}
	}
	e := errs.New(errs.Usage, "%s: is an agent of %s; is it to get the prompt, or the first word of it?", args[1], s.Name)
	typed := a.repeated(cmd, args)
	both := append([]string{args[0] + "," + strings.Join(more, ",")}, args[2:]...)
	return e.Hint("%s", pasted(slices.Concat(typed, both))).Hint("%s", pasted(slices.Concat(typed, args[:1], []string{"--"}, args[1:])))
}

// leftToSend adds a hint to the error of a prompt that reached only some of several agents: the
// line that sends the same prompt to the others.
func leftToSend(cmd *cobra.Command, err error, sessionName string, got, left, text []string) error {
	if len(got) == 0 {
		return err
	}
	line := "paw send " + sessionName + "/" + strings.Join(left, ",")
	for _, flag := range []string{"prompt", "prompt-file", "template", "issue"} {
		if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() != "-" {
			line += " --" + flag + " " + errs.Quote(f.Value.String())
		}
	}
	if len(text) > 0 {
		line += " " + errs.Quote(strings.Join(text, " "))
	}
	return errs.WithHints(err, line)
}

// promptFlags are the flags, other than --prompt, for the prompt of an agent.
type promptFlags struct {
	promptFile string
	template   string // name of a prompt of the configuration
	issue      string // number of an issue, or its URL
	pull       string // number of a pull request
}

// addPromptFlags adds --prompt and the flags that replace or complete it.
func addPromptFlags(cmd *cobra.Command, a *invocation, prompt *string, p *promptFlags, what string) {
	f := cmd.Flags()
	f.StringVarP(prompt, "prompt", "p", "", what)
	f.StringVar(&p.promptFile, "prompt-file", "", "file with the prompt, - for standard input")
	f.StringVar(&p.template, "template", "", "prompt of the configuration ([prompts]), with what you write below it")
	f.StringVar(&p.issue, "issue", "", "number of an issue: its text goes along, quoted as that of whoever wrote it (gh, glab)")
	completeFlag(cmd, "template", a.completes(completion.templates))
	completeFlag(cmd, "issue", cobra.NoFileCompletions)
}

// given reports whether any of the flags was given.
func (p *promptFlags) given() bool { return *p != promptFlags{} }

// withWords joins the parts of a prompt: the template, the user's words, then quoted texts of other
// people.
func (p *promptFlags) withWords(h *app.App, words string, quoted ...string) (string, error) {
	parts := []string{words}
	if p.template != "" {
		text, err := templateNamed(h, p.template)
		if err != nil {
			return "", err
		}
		parts = []string{strings.TrimSpace(text), words}
	}
	parts = slices.DeleteFunc(append(parts, quoted...), func(part string) bool { return part == "" })
	return strings.Join(parts, "\n\n"), nil
}

// issueText returns the text of the issue that --issue names, "" without the flag.
func (p *promptFlags) issueText(ctx context.Context, h *app.App, repository string) (string, error) {
	if p.issue == "" {
		return "", nil
	}
	return forge.FromIssue(ctx, h, repository, p.issue)
}

func templateNamed(h *app.App, name string) (string, error) {
	if text, ok := h.Config.Prompts[name]; ok {
		return text, nil
	}
	for _, c := range h.Config.Untrusted {
		if c.Key == "prompts."+name {
			return "", errs.New(errs.Usage, "template %s: comes with the repository, and is not trusted", name).Hint("paw config trust")
		}
	}
	known := slices.Sorted(maps.Keys(h.Config.Prompts))
	e := errs.New(errs.Usage, "template %s: not under [prompts] in the configuration (%s)", name, cmp.Or(strings.Join(known, ", "), "there is none"))
	e.Instead = errs.Instead{Of: name, By: config.Nearest(name, known)}
	if e.Instead.By == "" {
		e.Instead = errs.Instead{}
		return "", e.Hint("paw config")
	}
	return "", e
}

// requireText refuses a prompt with bytes of another encoding, which a CLI would get as other
// characters.
func requireText(prompt string) error {
	if !utf8.ValidString(prompt) {
		return errs.New(errs.Usage, "the prompt is not UTF-8")
	}
	return nil
}

// sentView returns who got a prompt. The turn is the one that the prompt began, or waits behind if it
// is queued, null if nothing tells.
func (p *printer) sentView(sessionName string, all []*typing.Sent) object {
	sent := objects(all, func(s *typing.Sent) object {
		return object{{"agent", s.Agent}, {"turn", orNull(s.Turn)}, {"queued", s.Queued}, {"kept", s.Kept}, {"dropped", s.Dropped}}
	})
	return object{{"version", 1}, {"session", sessionName}, {"sent", sent}, {"notes", p.noted()}}
}
