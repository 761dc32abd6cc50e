package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/orchestrator/selftest"
)

type doctorOptions struct {
	*invocation
	cli string
	fix bool
}

func newDoctor(a *invocation) *cobra.Command {
	o := &doctorOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is broken and say how to mend it",
		Long: exits(`Look at git, tmux, the configuration, the records, the worktree registrations and
the agents, and say what is broken and how to mend it. It changes nothing; with --fix
it keeps turn tags out of git log, in the repository you stand in. The exit status is 1
when something needs you (!!); what is worth a look (??) need not be broken.

With --cli it tries an installed CLI, which takes about a minute: in a repository, a HOME
and a tmux server of its own, which are deleted afterwards, with a scripted model that
paw runs on loopback meanwhile. Your files, credentials and sessions are not touched,
and nothing is sent to a vendor.`, exitUsage, exitMissing, exitBroken),
		Example: `  paw doctor
  paw doctor --cli claude
  paw doctor --json | jq -r '.findings[] | select(.ok | not).text'`,
		Args: cobra.NoArgs,
		RunE: a.withHome(o.run),
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "keep turn tags out of git log in this repository (log.excludeDecoration)")
	cmd.Flags().StringVar(&o.cli, "cli", "", "try the installed CLI `NAME`")
	_ = cmd.RegisterFlagCompletionFunc("cli", cobra.FixedCompletions(selftest.CLIs(), cobra.ShellCompDirectiveNoFileComp)) // fails only for an undefined flag
	a.addJSON(cmd)
	return cmd
}

func (o *doctorOptions) run(cmd *cobra.Command, h *app.App, _ []string) error {
	if o.cli != "" {
		return o.try(cmd, h)
	}
	findings := append([]orchestrator.Finding{{OK: true, Text: "paw " + ownVersion(), Hints: []string{}}}, orchestrator.Doctor(cmd.Context(), h, o.fix)...)
	for _, mistake := range o.forgiven {
		findings = append(findings, orchestrator.Finding{Text: mistake, Hints: []string{}})
	}
	if o.json {
		if err := o.printJSON(map[string]any{"version": 1, "findings": findings}); err != nil {
			return err
		}
	} else {
		o.printFindings(findings)
	}
	if slices.ContainsFunc(findings, func(f orchestrator.Finding) bool { return !f.OK }) {
		return exitStatus(errs.Failed)
	}
	return nil
}

func (o *doctorOptions) printFindings(findings []orchestrator.Finding) {
	for _, f := range findings {
		mark := o.colour("ok", "active")
		switch {
		case !f.OK:
			mark = o.colour("!!", "error")
		case len(f.Hints) > 0:
			mark = o.colour("??", "waiting_input")
		}
		fmt.Fprintf(o.stdout, "%s  %s\n", mark, f.Text)
		for _, hint := range f.Hints {
			fmt.Fprintf(o.stdout, "      %s\n", hint)
		}
	}
}

// trialPatience limits each wait of the self-test. Only tests set it, for CLIs that are broken on
// purpose.
var trialPatience time.Duration

// try runs the self-test with an installed CLI, and prints what works.
func (o *doctorOptions) try(cmd *cobra.Command, h *app.App) error {
	if !slices.Contains(selftest.CLIs(), o.cli) {
		return usagef(cmd, "--cli %s: it is one of %s", o.cli, strings.Join(selftest.CLIs(), ", "))
	}
	live := isTerminal(o.stdout) && !o.json
	var info orchestrator.CLIInfo
	began := time.Now()
	lines, err := selftest.Run(cmd.Context(), selftest.Options{
		CLI: o.cli, Command: h.Config.CLIs[o.cli].Command, Env: o.env, Patience: trialPatience,
		Introduce: func(i orchestrator.CLIInfo) {
			if info = i; !o.json {
				o.printTried(i)
			}
		},
		Begin: func(play string) {
			if live {
				fmt.Fprintf(o.stdout, "...        %s", play)
			}
		},
		End: func(line selftest.Line) {
			if live {
				fmt.Fprint(o.stdout, "\r\x1b[K")
			}
			if !o.json {
				o.printPlay(line)
			}
		},
		Emergency: func(end func()) { o.beforeExit.Store(&end) },
	})
	if err != nil {
		return err
	}
	if o.json {
		if err := o.printJSON(object{
			{"version", 1}, {"cli", info.Name}, {"path", info.Path}, {"cli_version", orNull(info.Version)}, {"looked_at", lookedAtView(info)},
			{"seconds", time.Since(began).Round(100 * time.Millisecond).Seconds()}, {"plays", lines},
		}); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(lines, func(line selftest.Line) bool { return line.Result == selftest.Fail }) {
		return exitStatus(errs.Failed)
	}
	return nil
}

func (o *doctorOptions) printTried(info orchestrator.CLIInfo) {
	fmt.Fprintf(o.stdout, "%s %s  %s\n", info.Name, display.FirstLine(info.Version), info.Path)
	if note := info.VersionNote(); note != "" {
		fmt.Fprintln(o.stdout, note)
	}
}

var playColours = map[selftest.Result]string{selftest.OK: "active", selftest.Fail: "error", selftest.Unknown: "unknown", selftest.NotTried: "unknown"}

func (o *doctorOptions) printPlay(line selftest.Line) {
	result := fmt.Sprintf("%-9s", line.Result)
	fmt.Fprintf(o.stdout, "%s  %-15s  %s\n", o.colour(result, playColours[line.Result]), line.Name, display.OneLine(line.Text))
}

// version is set by the linker in releases.
var version = ""

func newVersion(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version of paw",
		Long:    exits(`Show the version of paw, or the commit it was built from.`),
		Example: "  paw version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.show(object{{"version", 1}, {"paw", ownVersion()}}, versionLine())
		},
	}
	a.addJSON(cmd)
	return cmd
}

func (p *printer) printVersion() { fmt.Fprintln(p.stdout, versionLine()) }

// versionLine returns "paw VERSION". For a build that is no release, the day of its commit follows.
func versionLine() string {
	at := built("vcs.time")
	if version != "" || len(at) < len(time.DateOnly) {
		return "paw " + ownVersion()
	}
	return fmt.Sprintf("paw %s (%s)", ownVersion(), at[:len(time.DateOnly)])
}

// ownVersion returns the version of this paw's release, else one with the commit that paw was built from.
func ownVersion() string {
	switch revision := built("vcs.revision"); {
	case version != "":
		return version
	case revision == "":
		return hosts.Unreleased
	case built("vcs.modified") == "true":
		return fmt.Sprintf("0.0.0-%.12s%s", revision, hosts.Modified)
	default:
		return fmt.Sprintf("0.0.0-%.12s", revision)
	}
}

// built returns a setting of the build, "" for none.
func built(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

func newCLIs(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clis",
		Short: "Show which CLIs are installed and what paw can do with each",
		Long:  exits(`Show which CLIs are installed, their versions, and what paw can do with each.`),
		Example: `  paw clis
  paw clis --json | jq -r '.clis[] | select(.installed).name'`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, _ []string) error {
			infos := orchestrator.ListCLIs(cmd.Context(), h, true)
			if a.json {
				return a.printJSON(clisView(infos))
			}
			rows := [][]cell{heads("CLI", "VERSION", "PATH", "TURNS")}
			for _, info := range infos {
				version, place := info.Version, shortened(info.Path)
				switch {
				case info.Path == "":
					version, place = "not installed", cli.Install(info.Name)
				case info.Err != nil:
					version = "does not say"
				}
				rows = append(rows, texts(info.Name, display.FirstLine(version), place, info.Facts.Turns))
			}
			a.printTable(a.stdout, "", rows)
			for _, info := range infos {
				if note := info.VersionNote(); note != "" {
					fmt.Fprintf(a.stdout, "%s\n", note)
					fmt.Fprintf(a.stdout, "    paw doctor --cli %s\n", info.Name)
				}
			}
			return nil
		}),
	}
	a.addJSON(cmd)
	return cmd
}

func installedCLIs(ctx context.Context, h *app.App) (names []string) {
	for _, info := range orchestrator.ListCLIs(ctx, h, false) {
		if info.Path != "" {
			names = append(names, info.Name)
		}
	}
	return names
}

// lookedAtView names the version of a CLI that paw's authors looked at, null for none, and says how the installed version
// compares. No field of it goes, so there are two of the one version.
func lookedAtView(info orchestrator.CLIInfo) any {
	if info.Looked.CLI == "" {
		return nil
	}
	return object{{"oldest", info.Looked.Version}, {"newest", info.Looked.Version}, {"standing", orNull(info.Standing)}}
}

func clisView(infos []orchestrator.CLIInfo) object {
	return object{{"version", 1}, {"clis", objects(infos, func(info orchestrator.CLIInfo) object {
		failed := any(nil)
		if info.Err != nil {
			failed = orNull(info.Err.Error())
		}
		return object{
			{"name", info.Name}, {"installed", info.Path != ""}, {"path", orNull(info.Path)}, {"version", orNull(info.Version)},
			{"looked_at", lookedAtView(info)}, {"resume", info.Facts.Resume}, {"turns", info.Facts.Turns}, {"error", failed},
		}
	})}}
}
