package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/worktree"
)

// CLIInfo is what paw knows of one CLI on this machine.
type CLIInfo struct {
	Name      string
	Path      string // "" when it is not installed
	Version   string
	Err       error // why the version is not known
	Standing  agent.Standing
	Looked    agent.LookedAt // at which versions the standing is measured
	Facts     agent.Facts
	IsDefault bool
}

// ListCLIs tells which CLIs paw knows, which are installed, and what paw can do
// with each. Versions are asked for only when withVersions is set: some CLIs
// take a second to start.
func (p *Paw) ListCLIs(ctx context.Context, withVersions bool) []CLIInfo {
	names := p.CLIs.Names()
	infos := make([]CLIInfo, len(names))
	var group errgroup.Group
	group.SetLimit(4)
	for i, name := range names {
		cli, _ := p.CLIs.Get(name)
		infos[i] = CLIInfo{Name: name, Facts: cli.Facts(), IsDefault: name == p.Config.DefaultCLI}
		_, infos[i].Looked = agent.StandingOf(name, "")
		executable, err := p.executable(cli)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				infos[i].Err = err
			}
			continue
		}
		infos[i].Path = executable
		if !withVersions {
			continue
		}
		group.Go(func() error {
			infos[i].askVersion(ctx, cli, p.Env)
			return nil
		})
	}
	_ = group.Wait()
	return infos
}

// CLI tells about one CLI, which must be installed.
func (p *Paw) CLI(ctx context.Context, name string) (CLIInfo, error) {
	cli, ok := p.CLIs.Get(name)
	if !ok {
		return CLIInfo{}, failf(KindUsage, "%s: unknown CLI", name).hint("paw clis")
	}
	executable, err := p.executable(cli)
	if err != nil {
		return CLIInfo{}, err
	}
	info := CLIInfo{Name: name, Path: executable, Facts: cli.Facts()}
	info.askVersion(ctx, cli, p.Env)
	return info, nil
}

// askVersion asks an installed CLI for its version, and compares it with those that were looked at.
func (i *CLIInfo) askVersion(ctx context.Context, cli agent.CLI, env []string) {
	i.Version, i.Err = cli.Version(ctx, i.Path, env)
	i.Standing, i.Looked = agent.StandingOf(i.Name, i.Version)
}

// VersionNote says that nobody has looked at the installed version of the CLI, "" when somebody has or it is not known.
func (i CLIInfo) VersionNote() string {
	text := i.Looked.Describe(i.Standing)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", i.Name, i.Version, text)
}

// Trust remembers commands of the repository's configuration, word for word.
func (p *Paw) Trust(commands []config.Command) error {
	repository, err := worktree.Discover(p.Dir)
	if err != nil {
		return err
	}
	return p.Paths.Trust(repository.Path, commands)
}
