package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"paw/orchestrator/launch"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/observe"
	"paw/session"
)

type startOptions struct {
	*invocation
	orchestrator.StartOptions
	promptFlags
	detach bool
}

func newStart(a *invocation) *cobra.Command {
	o := &startOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "start [--cli LIST]",
		Short: "Start a session: a branch, a worktree and a pane for each CLI",
		Long: exits(`Start a session: a branch, a worktree and a tmux pane for each CLI, then attach.

LIST has items [AGENT=]CLI, separated by commas or given with several --cli; the
same CLI may come twice. Branches are paw/SESSION/AGENT unless --branches names them;
worktrees lie beside the repository. Without --cli, --preset and --name, the session
of this repository is attached, or recovered when it is stopped. An empty folder becomes a
repository. A name stays taken as long as turn tags of it exist: paw purge NAME --tags frees it.`, exitUsage, exitNotFound, exitLocked, exitMissing, exitBroken),
		Example: `  paw start --cli claude,codex
  paw start --cli claude --branches feat/auth,feat/search
  paw start --cli api=claude,web=claude --name shop --prompt "fix the tests"
  paw start --cli claude --issue 12`,
		Args: o.noWords,
		RunE: o.run,
	}
	o.addFlags(cmd, "CLIs to start", "do not attach")
	cmd.Flags().StringVar(&o.Name, "name", "", "name of the session (default: the repository's directory)")
	cmd.Flags().StringVar(&o.Preset, "preset", "", "preset of the configuration")
	completeFlag(cmd, "preset", a.completes(completion.presets))
	return cmd
}

// addFlags adds the flags of start and add; what and detach are the words in which they differ.
func (o *startOptions) addFlags(cmd *cobra.Command, what, detach string) {
	f := cmd.Flags()
	f.String("on", "", "the host that it runs on, see paw host")
	f.StringSliceVar(&o.CLIs, "cli", nil, what+", items [AGENT=]CLI")
	f.StringSliceVar(&o.Branches, "branches", nil, "branches to work on, one agent each; missing ones are made")
	f.StringVar(&o.Base, "base", "", "commit that new branches start from (default: HEAD)")
	f.BoolVar(&o.WithChanges, "with-changes", false, "begin with what you have not committed here; your checkout stays as it is")
	addPromptFlags(cmd, o.invocation, &o.Prompt, &o.promptFlags, "first prompt of each agent")
	f.StringVar(&o.pull, "pr", "", "number of a pull request: begin where its branch is, with its text (gh, glab)")
	f.BoolVar(&o.WaitSetUp, "wait-setup", false, "wait until worktree.setup has ended")
	f.BoolVarP(&o.detach, "detach", "d", false, detach)
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done and do nothing")
	o.addJSON(cmd)
	completeFlag(cmd, "cli", o.completes(completion.clis))
	completeFlag(cmd, "branches", o.completes(completion.branches))
	completeFlag(cmd, "base", o.completes(completion.branches))
	completeFlag(cmd, "pr", cobra.NoFileCompletions)
}

func (o *startOptions) run(cmd *cobra.Command, _ []string) error {
	h, err := o.paw()
	if err != nil {
		return err
	}
	if err := refuseEmpty(cmd, "name", "pr"); err != nil {
		return err
	}
	if err := o.readPrompt(o.stdin); err != nil {
		return err
	}
	if len(o.CLIs) == 0 && o.Preset == "" {
		// A prompt, a branch or a base asks for a new session. To attach to an old one would drop
		// it.
		if o.Name == "" && o.Prompt == "" && !o.given() && o.Base == "" && !o.WithChanges && len(o.Branches) == 0 {
			if done, err := o.resumeHere(cmd, h); done || err != nil {
				return err
			}
		}
		if o.CLIs, err = o.chooseCLIs(cmd, h); err != nil {
			return err
		}
	}
	if o.pull != "" && (o.Base != "" || o.Preset != "" || o.WithChanges) {
		return usagef(cmd, "--pr says where to begin: not with --base, --preset or --with-changes")
	}
	if err := o.firstPrompt(cmd.Context(), h, h.Dir); err != nil {
		return err
	}
	o.HideTags = o.interactive() && !o.json
	done := o.busy(h, "starting")
	started, err := orchestrator.Start(cmd.Context(), h, o.StartOptions)
	done()
	if err != nil {
		return err
	}
	return o.showStarted(cmd, h, started, o.detach)
}

// noWords refuses words behind start and add, which have flags instead. The hints have the words as what they can be: CLIs, the
// name of an agent or a session and, from the first word with a space on, a prompt.
func (o *startOptions) noWords(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names, text := args, []string(nil)
	if i := slices.IndexFunc(args, func(word string) bool { return strings.Contains(word, " ") }); i >= 0 {
		names, text = args[:i], []string{"--prompt", strings.Join(args[i:], " ")}
	}
	e := errs.New(errs.Usage, "%s: %s takes CLIs with --cli", strings.Join(args, " "), cmd.CommandPath())
	line := func(words ...string) { e = e.Hint("%s", pasted(slices.Concat(o.repeated(cmd, args), words, text))) }
	if len(o.CLIs) == 1 && len(names) == 1 && !strings.ContainsAny(names[0]+o.CLIs[0], "=,") {
		if with := retyped(slices.Concat(o.repeated(cmd, args), text), o.CLIs[0], names[0]+"="+o.CLIs[0]); with != "" {
			e = e.Hint("%s", with)
		}
	}
	switch here := o.sessionHere(); {
	case len(names) == 0:
		line()
	case !slices.ContainsFunc(eachOf(names), o.noCLI):
		line("--cli", strings.Join(names, ","))
	case len(o.CLIs) > 0 && len(names) == 1 && cmd.Flags().Lookup("name") != nil:
		line("--name", names[0])
	case len(args) == 1 && (here.Name == args[0] || here.Agent(args[0]) != nil):
		e = e.Hint("paw recover %s", args[0])
	case len(e.Hints) == 0:
		e = e.Hint("paw clis")
	}
	return e
}

// noCLI reports whether an item [AGENT=]CLI names a CLI that paw does not know.
func (o *startOptions) noCLI(item string) bool {
	h, err := o.paw()
	if err != nil {
		return false
	}
	_, known := h.CLIs.Get(item[strings.IndexByte(item, '=')+1:])
	return !known
}

// resumeHere attaches to the current session if it runs, or recovers it if it is stopped. It
// returns false if there is no session. A session whose record cannot be read is an error.
func (o *startOptions) resumeHere(cmd *cobra.Command, h *app.App) (bool, error) {
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{})
	if err != nil {
		return false, err
	}
	if len(statuses) == 0 {
		return false, h.WithEnd(cmd.Context(), errors.Join(problems...))
	}
	o.printProblems(problems)
	st, err := meantByStart(statuses)
	if err != nil {
		return true, err
	}
	if o.DryRun {
		would := "attach to it"
		if st.Status == session.StatusStopped {
			would = "bring it back and attach"
		}
		return true, o.showPlan([]string{fmt.Sprintf("%s exists and is %s; start would %s", st.Session.Name, st.Status, would)})
	}
	if st.Status == session.StatusActive {
		if o.json || o.detach {
			return true, o.showSession(cmd, h, st.Session.Name, nil)
		}
		err := attachTo(cmd.Context(), o.invocation, h, st.Session, orchestrator.WaitingIn(cmd.Context(), h, st.Session))
		if errors.Is(err, orchestrator.ErrNotATerminal) { // the session runs, as the user wanted
			fmt.Fprintf(o.stdout, "%s runs already; %s shows it\n", st.Session.Name, errs.Line("paw attach %s", st.Session.Name))
			return true, nil
		}
		return true, err
	}
	back := &recoverOptions{invocation: o.invocation, RecoverOptions: orchestrator.RecoverOptions{Name: st.Session.Name}, detach: o.detach}
	return true, back.bringBack(cmd, h)
}

// meantByStart returns the session that paw start without words brings back: the only session of
// the current directory or, of several, the only active one.
func meantByStart(statuses []observe.SessionStatus) (observe.SessionStatus, error) {
	e := &errs.Error{Kind: errs.Usage}
	var active []observe.SessionStatus
	var names []string
	for _, st := range statuses {
		names = append(names, st.Session.Name)
		if st.Status == session.StatusActive {
			active = append(active, st)
			e.Hints = append(e.Hints, "paw attach "+st.Session.Name)
		} else {
			e.Hints = append(e.Hints, "paw recover "+st.Session.Name)
		}
	}
	if len(statuses) == 1 {
		return statuses[0], nil
	}
	if len(active) == 1 {
		return active[0], nil
	}
	e.Message = "several sessions here: " + strings.Join(names, ", ")
	return observe.SessionStatus{}, e
}

// chooseCLIs asks on a terminal which of the installed CLIs to start. Without a terminal the error
// names --cli.
func (o *startOptions) chooseCLIs(cmd *cobra.Command, h *app.App) ([]string, error) {
	installed := installedCLIs(cmd.Context(), h)
	if !o.interactive() {
		return nil, errs.New(errs.Usage, "which CLIs? installed: %s", strings.Join(installed, ", ")).Hint("%s", pasted(append(o.repeated(cmd, nil), "--cli", installed[0])))
	}
	preferred := installed[0]
	fmt.Fprintln(o.stderr, "Installed CLIs:")
	for i, name := range installed {
		if name == h.Config.DefaultCLI {
			preferred = name
		}
		fmt.Fprintf(o.stderr, "  %d  %s\n", i+1, name)
	}
	line, err := o.ask(cmd.Context(), fmt.Sprintf("Which ones, separated by commas? [%s]", preferred))
	if err != nil {
		return nil, err
	}
	if line == "" {
		return []string{preferred}, nil
	}
	return pick(line, installed)
}

// pick reads names and numbers from a list of CLIs.
func pick(line string, installed []string) ([]string, error) {
	var chosen []string
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		if n, err := strconv.Atoi(word); err == nil {
			if n < 1 || n > len(installed) {
				return nil, errs.New(errs.Usage, "%d: there is no such number, they go from 1 to %d", n, len(installed)).Hint("paw start")
			}
			word = installed[n-1]
		}
		chosen = append(chosen, word)
	}
	return chosen, nil
}

// showStarted prints the notes and the result, or the plan, and attaches.
func (o *startOptions) showStarted(cmd *cobra.Command, h *app.App, started *orchestrator.Started, detach bool) error {
	for _, note := range started.Notes {
		o.note(note)
	}
	if started.Plan != nil {
		return o.showPlan(started.Plan)
	}
	return o.showResults(cmd, h, started.Session, started.Results, detach)
}

// showResults prints the results of start or add, and attaches.
func (o *startOptions) showResults(cmd *cobra.Command, h *app.App, s *session.Session, results []launch.Result, detach bool) error {
	if o.json {
		return o.showSession(cmd, h, s.Name, results)
	}
	o.printResults(s, results, false)
	if o.WaitSetUp && cmd.Context().Err() != nil {
		return errs.New(errs.Interrupted, "%s: interrupted while it waited for set-ups", s.Name).Hint("paw status %s", s.Name)
	}
	if anyRefused(results) {
		return exitStatus(errs.Failed)
	}
	if detach || !isTerminal(o.stdout) {
		fmt.Fprintf(o.stdout, "paw attach %s shows it\n", s.Name)
		return nil
	}
	return attachTo(cmd.Context(), o.invocation, h, s, "")
}

// showSession prints the status of one session, with --json also the results.
func (o *startOptions) showSession(cmd *cobra.Command, h *app.App, name string, results []launch.Result) error {
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{Name: name})
	switch {
	case err != nil:
		return err
	case o.json:
		err = o.printJSON(append(statusView(statuses, problems), field{"results", objects(results, resultView)}, field{"notes", o.noted()}))
	default:
		err = statusPrinter{o.invocation}.showStatus(cmd.Context(), h, statuses, problems, nil)
	}
	if err == nil && anyRefused(results) {
		return exitStatus(errs.Failed)
	}
	return err
}

// readPrompt reads the file of --prompt-file into the prompt.
func (o *startOptions) readPrompt(stdin io.Reader) error {
	if o.promptFile == "" {
		return requireText(o.Prompt)
	}
	if o.Prompt != "" {
		return errs.New(errs.Usage, "--prompt and --prompt-file: give one of them")
	}
	var data []byte
	var err error
	if o.promptFile == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(o.promptFile)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errs.New(errs.Usage, "--prompt-file %s: no such file", o.promptFile).Hint("ls %s", errs.Quote(filepath.Dir(o.promptFile)))
	case errors.Is(err, syscall.EISDIR):
		return errs.New(errs.Usage, "--prompt-file %s: is a folder, not a file", o.promptFile).Hint("ls %s", errs.Quote(o.promptFile))
	}
	o.Prompt = strings.TrimSuffix(string(data), "\n") // without the end of the last line
	return cmp.Or(err, requireText(o.Prompt))
}

// firstPrompt completes the options for new agents: their first prompt and, for a pull request, the
// commit and the branch they begin on.
func (o *startOptions) firstPrompt(ctx context.Context, h *app.App, repository string) error {
	if !o.given() || o.promptFile != "" && o.template+o.issue+o.pull == "" {
		return nil
	}
	issue, err := o.issueText(ctx, h, repository)
	if err != nil {
		return err
	}
	var asked forge.Asked
	if o.pull != "" {
		if asked, err = forge.FromPull(ctx, h, repository, o.pull, orchestrator.Terminal(h, o.stdin, o.stderr, o.json)); err != nil {
			return err
		}
		o.Base = asked.Base
		if alone := len(o.CLIs) == 1 && !strings.Contains(o.CLIs[0], ",") && len(o.Branches) == 0; alone && asked.Branch != "" {
			o.Branches = []string{asked.Branch}
		}
	}
	o.Prompt, err = o.withWords(h, o.Prompt, issue, asked.Words)
	return err
}
