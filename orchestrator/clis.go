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
			info := &infos[i]
			info.Version, info.Err = cli.Version(ctx, executable, p.Env)
			info.Standing, _ = agent.StandingOf(name, info.Version)
			return nil
		})
	}
	_ = group.Wait()
	return infos
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
