package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/worktree/gitdir"
)

// CLIInfo describes a CLI on this machine.
type CLIInfo struct {
	Name     string
	Path     string // path of the program, "" when the CLI is not installed
	Version  string
	Err      error // why the version is unknown
	Standing cli.Standing
	Looked   cli.LookedAt // tested versions, with which Standing compares
	Facts    cli.Facts
}

// ListCLIs returns the known CLIs: which are installed, and what paw can do with each. It asks for
// versions only if withVersions is set, since some CLIs take a second to start.
func ListCLIs(ctx context.Context, h *app.App, withVersions bool) []CLIInfo {
	names := h.CLIs.Names()
	infos := make([]CLIInfo, len(names))
	var group errgroup.Group
	group.SetLimit(4)
	for i, name := range names {
		c, _ := h.CLIs.Get(name)
		infos[i] = CLIInfo{Name: name, Facts: c.Facts()}
		_, infos[i].Looked = cli.StandingOf(name, "")
		executable, err := h.Program(c)
		if err != nil {
			var e *errs.Error
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
			infos[i].askVersion(ctx, c, h.Env)
			return nil
		})
	}
	_ = group.Wait()
	return infos
}

// CLI describes one CLI, which must be installed.
func CLI(ctx context.Context, h *app.App, name string) (CLIInfo, error) {
	cli, ok := h.CLIs.Get(name)
	if !ok {
		return CLIInfo{}, errs.New(errs.Usage, "%s: unknown CLI", name).Hint("paw clis")
	}
	executable, err := h.Program(cli)
	if err != nil {
		return CLIInfo{}, err
	}
	info := CLIInfo{Name: name, Path: executable, Facts: cli.Facts()}
	info.askVersion(ctx, cli, h.Env)
	return info, nil
}

// askVersion asks an installed CLI for its version, and compares it with the tested ones.
func (i *CLIInfo) askVersion(ctx context.Context, c cli.CLI, env []string) {
	i.Version, i.Err = c.Version(ctx, i.Path, env)
	i.Standing, i.Looked = cli.StandingOf(i.Name, i.Version)
}

// VersionNote says that the installed version of the CLI was not tested, "" if it was, or is
// unknown.
func (i CLIInfo) VersionNote() string {
	text := i.Looked.Describe(i.Standing)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", i.Name, i.Version, text)
}

// Trust records commands of the repository's configuration, word for word, as trusted.
func Trust(h *app.App, commands []config.Command) error {
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return err
	}
	return h.Paths.Trust(repository.Path, commands)
}
