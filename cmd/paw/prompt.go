package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

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
	completeFlag(cmd, "template", completer{a}.completeTemplates)
	completeFlag(cmd, "issue", cobra.NoFileCompletions)
}

// addPullFlag adds --pr, for commands that make agents.
func addPullFlag(cmd *cobra.Command, p *promptFlags) {
	cmd.Flags().StringVar(&p.pull, "pr", "", "number of a pull request: begin where its branch is, with its text (gh, glab)")
	completeFlag(cmd, "pr", cobra.NoFileCompletions)
}

// completeTemplates completes the names of the prompts in the configuration.
func (c completer) completeTemplates(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	h, err := c.paw()
	if err != nil {
		return names(nil)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(h.Config.Prompts)) {
		words = append(words, described(name, h.Config.Prompts[name]))
	}
	return names(words)
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
	return orchestrator.FromIssue(ctx, h, repository, p.issue)
}

// templateNamed returns a prompt of the configuration.
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
