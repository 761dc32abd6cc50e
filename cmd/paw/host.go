package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

func newHost(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Other machines whose agents are in the same list",
		Long: exits(`Machines that run paw and that ssh reaches. "paw start --on NAME" starts agents there;
they are called NAME:AGENT, and what is said to them is done by the paw over there.
Keys, ports and jumps are those of your ssh configuration.`, exitUsage),
		Example: `  paw host add gpu gpu-box
  paw host doctor gpu
  paw start --on gpu --cli claude`,
		RunE: func(cmd *cobra.Command, _ []string) error { return listHosts(a) },
		Args: cobra.NoArgs,
	}
	a.addJSON(cmd)
	cmd.AddCommand(newHostAdd(a), newHostList(a), newHostDoctor(a), newHostRemove(a))
	return cmd
}

func newHostList(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "Show the hosts", Args: cobra.NoArgs, Aliases: []string{"ls"},
		Long:    exits(`Show the hosts of your configuration, with the checkout there that goes with this one.`, exitUsage),
		Example: "  paw host list",
		RunE:    func(*cobra.Command, []string) error { return listHosts(a) },
	}
	a.addJSON(cmd)
	return cmd
}

func listHosts(a *invocation) error {
	h, err := a.paw()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"version": 1, "hosts": h.Config.Hosts})
	}
	for _, key := range h.Config.Ignored {
		if strings.HasPrefix(key, "hosts.") {
			a.note(key + " of the repository is left out: a repository has no say in it")
		}
	}
	if len(h.Config.Hosts) == 0 {
		fmt.Fprintln(a.stdout, "no hosts; paw host add NAME [USER@]DESTINATION adds one")
		return nil
	}
	rows := [][]cell{heads("HOST", "SSH", "CHECKOUT", "PAW")}
	for _, name := range slices.Sorted(maps.Keys(h.Config.Hosts)) {
		host := h.Config.Hosts[name]
		there, _ := hosts.There(host.Repos, h.Root())
		rows = append(rows, texts(name, host.SSH, there, host.Paw))
	}
	a.printTable(a.stdout, "", rows)
	return nil
}

type hostAddOptions struct {
	*invocation
	repo    string
	install bool
}

func newHostAdd(a *invocation) *cobra.Command {
	o := &hostAddOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "add NAME [USER@]DESTINATION",
		Short: "Add a machine that ssh reaches",
		Long: exits(`Look at a machine over ssh and write it into your configuration: where its paw is, and
which checkout there goes with the repository you stand in. On a terminal ssh may ask for
a password or for the trust in a key; later commands ask nothing. A known name with another
repository adds a checkout.`, exitUsage, "3    this repository has a checkout there already", "10   no such checkout there", "12   git, tmux or paw is missing there"),
		Example: `  paw host add gpu gpu-box
  paw host add gpu me@192.168.1.7 --repo src/shop
  paw host add gpu gpu-box --install`,
		Args: cobra.ExactArgs(2),
		RunE: a.withHome(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.repo, "repo", "", "the checkout there, absolute or below the home folder (default: the same place as here)")
	f.BoolVar(&o.install, "install", false, "put this paw there, below the home folder, where it has none")
	return cmd
}

// run looks at a machine over ssh and writes what it found into the user's configuration.
func (o *hostAddOptions) run(cmd *cobra.Command, h *app.App, args []string) error {
	name, destination := args[0], args[1]
	known, there := h.Config.Hosts[name]
	if there && known.SSH != destination {
		return errs.New(errs.Refused, "%s: is %s already", name, known.SSH).Hint("paw host remove %s", name)
	}
	if on, mapped := known.Repos[h.Root()]; mapped && h.Root() != "" && !o.install {
		return errs.New(errs.Refused, "%s: has a checkout of this repository already, %s", name, on).Hint("paw host doctor %s", name)
	}
	if err := config.CheckHost(name, config.Host{SSH: destination}); err != nil {
		return usagef(cmd, "%s", err.Error())
	}
	client, err := sshClient(h)
	if err != nil {
		return err
	}
	host := hosts.Host{Name: name, Host: config.Host{SSH: destination, Paw: known.Paw}}
	home := h.Getenv("HOME")
	asked := o.repo
	if asked == "" && h.Root() != "" {
		asked = strings.TrimPrefix(h.Root(), home+"/")
	}
	found, err := client.Probe(cmd.Context(), host, asked, o.interactive())
	if err != nil {
		return endedThere(0, err)
	}
	if err := missingThere(name, found); err != nil {
		return err
	}
	if host.Paw, err = o.pawThere(cmd.Context(), client, host, found); err != nil {
		return err
	}
	if found.Top == "" && h.Root() != "" {
		return errs.New(errs.NotFound, "%s: %s is no checkout there", name, asked).
			Hint("ssh %s git clone URL %s", errs.Quote(destination), errs.Quote(asked)).Hint("paw host add %s %s --repo PATH", name, errs.Quote(destination))
	}
	if h.Root() != "" {
		host.Repos = map[string]string{h.Root(): found.Top}
	}
	err = h.Paths.SaveHost(name, host.Host)
	if errors.Is(err, config.ErrHostByHand) {
		return errs.New(errs.Failed, "%s: hosts.%s %w", h.Paths.ConfigFile, name, err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.stdout, "%s: %s, paw %s\n", name, destination, host.Paw)
	for here, over := range host.Repos {
		fmt.Fprintf(o.stdout, "  %s is %s there; paw start --on %s\n", shortened(here), over, name)
	}
	return nil
}

// missingThere returns an error that names the programs paw needs and a host lacks, nil if there
// are none.
func missingThere(name string, f hosts.Found) error {
	var missing []string
	for _, program := range [][2]string{{"git", f.Git}, {"tmux", f.Tmux}} {
		if program[1] == "" {
			missing = append(missing, program[0])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return errs.New(errs.Missing, "%s: %s is not installed there", name, strings.Join(missing, " and "))
}

// pawThere returns the path of the paw binary on a host: the configured one, else the first that
// was found, else a copy of the running binary that it installs.
func (o *hostAddOptions) pawThere(ctx context.Context, client hosts.Client, host hosts.Host, f hosts.Found) (string, error) {
	switch {
	case host.Paw != "" && !o.install:
		return host.Paw, nil
	case !o.install && len(f.Paws) > 0:
		host.Paw = f.Paws[0]
		_, err := client.Ask(ctx, host, reachPatience, "", "version", "--json")
		if lost := (*hosts.NotReached)(nil); errors.As(err, &lost) && lost.TooOld != "" {
			return "", endedThere(0, err)
		}
		return host.Paw, nil // paw host doctor finds whatever else is wrong
	case !o.install:
		return "", errs.New(errs.Missing, "%s: there is no paw", host.Name).Hint("paw host add %s %s --install", host.Name, errs.Quote(host.SSH))
	}
	program, err := programFor(f.System, lookUp(o.env, "PAW_DIST"))
	if err != nil {
		return "", err
	}
	path, err := client.Install(ctx, host, f, program, ownVersion())
	if err != nil {
		return "", endedThere(0, err)
	}
	fmt.Fprintf(o.stdout, "%s: installed %s\n", host.Name, path)
	return path, nil
}

// programFor returns the path of a paw binary on this machine that runs on a system: the running
// binary where the platform is the same, else one that make dist has built, below the folder
// PAW_DIST. Nothing is downloaded.
func programFor(system, dist string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	if hosts.SameSystem(system) {
		return own, nil
	}
	if path := hosts.ProgramIn(dist, system); path != "" {
		return path, nil
	}
	return "", errs.New(errs.Missing, "%s: this paw is for %s/%s", system, runtime.GOOS, runtime.GOARCH).
		Hint("make dist && PAW_DIST=%s paw host add NAME DESTINATION --install", errs.Quote(filepath.Join("$PWD", "dist")))
}

func newHostRemove(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Take a machine out of the configuration", Args: cobra.ExactArgs(1), Aliases: []string{"rm"},
		Long:    exits(`Take a machine out of your configuration. What runs there goes on; nothing there changes.`, exitUsage, exitNotFound),
		Example: "  paw host remove gpu",
		RunE: a.withHome(func(_ *cobra.Command, h *app.App, args []string) error {
			host, client, err := hostAndClient(h, args[0])
			if err != nil {
				return err
			}
			if err := h.Paths.DeleteHost(args[0]); err != nil {
				return err
			}
			if err := client.Forget(host); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s removed; what runs there goes on\n", args[0])
			return nil
		}),
	}
}

func newHostDoctor(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use: "doctor NAME", Short: "Look whether a machine works with paw", Args: cobra.ExactArgs(1),
		Long: exits(`Look whether a machine is reached, how long a round trip takes, and what there is:
versions, CLIs, the checkout, git's identity.`, exitUsage, exitNotFound, "12   git, tmux or paw is missing there"),
		Example: "  paw host doctor gpu",
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, args []string) error {
			host, client, err := hostAndClient(h, args[0])
			if err != nil {
				return err
			}
			return examine(cmd.Context(), a, h, host, client)
		}),
	}
}

// examine prints the rows of paw host doctor.
func examine(ctx context.Context, a *invocation, h *app.App, host hosts.Host, client hosts.Client) error {
	there, _ := hosts.There(host.Repos, h.Root())
	if err := a.reach(ctx, client, host); err != nil {
		if lost, ok := errors.AsType[*hosts.NotReached](err); ok && lost.TooOld == "" {
			return errs.New(errs.Failed, "%w", err).Hint("ssh %s true", errs.Quote(host.SSH))
		}
		return endedThere(0, err)
	}
	found, err := client.Probe(ctx, host, there, false)
	if err != nil {
		return endedThere(0, err)
	}
	began := time.Now()
	version, err := client.Read(ctx, host, "", "version", "--json")
	took := time.Since(began)
	rows := [][]cell{
		texts("reached", fmt.Sprintf("%s, an answer of paw took %d ms", host.SSH, took.Milliseconds())),
		texts("system", found.System), texts("git", cmp.Or(found.Git, "missing")), texts("tmux", cmp.Or(found.Tmux, "missing")),
		texts("paw", hosts.VersionIn(version)+"  "+host.Paw),
	}
	if err != nil {
		rows[len(rows)-1] = texts("paw", err.Error())
	}
	if h.Root() != "" {
		rows = append(rows, texts("checkout", cmp.Or(found.Top, "missing")))
	}
	identity := "missing: commits over there need git config --global user.name and user.email"
	if found.Name != "" && found.Email != "" {
		identity = found.Name + " <" + found.Email + ">"
	}
	rows = append(rows, texts("identity", identity), texts("forwarding", "off: neither keys nor ports go there"))
	clis, readErr := client.Read(ctx, host, "", "clis", "--json")
	if readErr == nil {
		rows = append(rows, texts("CLIs", hosts.InstalledIn(clis)))
	}
	a.printTable(forReading(a.stdout), "", rows)
	if missing := missingThere(host.Name, found); missing != nil {
		return missing
	}
	return endedThere(0, err)
}
