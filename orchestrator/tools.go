package orchestrator

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/tmux"
	"paw/worktree/git"
)

// The oldest versions paw works with: tmux 3.2 has new-session -e and the size
// options it needs, git 2.34 has worktree add --lock --reason.
const (
	tmuxMajor, tmuxMinor = 3, 2
	gitMajor, gitMinor   = 2, 34
)

// requireTools refuses to go on without git and tmux of a usable version.
func (p *Paw) requireTools(ctx context.Context) error {
	if err := p.requireGit(ctx); err != nil {
		return err
	}
	v, err := p.tmuxFor(nil).Version(ctx)
	if err != nil {
		return tmuxError(err)
	}
	if !v.AtLeast(tmuxMajor, tmuxMinor) {
		return failf(KindMissing, "tmux %s: too old, paw needs %d.%d or newer", v.Raw, tmuxMajor, tmuxMinor)
	}
	return nil
}

func (p *Paw) requireGit(ctx context.Context) error {
	major, minor, raw, err := git.Version(ctx)
	if errors.Is(err, git.ErrNotInstalled) {
		return failf(KindMissing, "git: not installed").hint("https://git-scm.com/downloads")
	}
	if err != nil {
		return err
	}
	if major < gitMajor || (major == gitMajor && minor < gitMinor) {
		return failf(KindMissing, "git %s: too old, paw needs %d.%d or newer", raw, gitMajor, gitMinor)
	}
	return nil
}

// tmuxError puts an error of tmux into the user's words.
func tmuxError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tmux.ErrNotInstalled):
		return failf(KindMissing, "tmux: not installed").hint("%s", installTmux())
	case errors.Is(err, tmux.ErrTooOldServer):
		return failf(KindMissing, "%w", err).hint("detach, then 'tmux kill-server' when nothing in it is needed any more")
	case errors.Is(err, tmux.ErrTimeout):
		return failf(KindError, "%w", err).hint("paw doctor")
	}
	return err
}

// installTmux is the command that installs tmux on this machine.
func installTmux() string {
	for _, known := range [][2]string{
		{"/usr/bin/apt-get", "sudo apt-get install tmux"},
		{"/usr/bin/dnf", "sudo dnf install tmux"},
		{"/usr/bin/pacman", "sudo pacman -S tmux"},
		{"/sbin/apk", "sudo apk add tmux"},
		{"/opt/homebrew/bin/brew", "brew install tmux"},
		{"/usr/local/bin/brew", "brew install tmux"},
	} {
		if _, err := os.Stat(known[0]); err == nil {
			return known[1]
		}
	}
	return "https://github.com/tmux/tmux/wiki/Installing"
}

// executable finds the program of a CLI on the user's PATH.
func (p *Paw) executable(cli agent.CLI) (string, error) {
	path, err := agent.LookPath(cli.Program(), p.Env)
	if err != nil {
		return "", failf(KindMissing, "%s: %s is not installed", cli.Name(), cli.Program()).hint("paw clis")
	}
	return path, nil
}

// cliOf is the CLI of an agent and its program.
func (p *Paw) cliOf(w *session.Worktree) (agent.CLI, string, error) {
	cli, ok := p.CLIs.Get(w.CLI)
	if !ok {
		return nil, "", failf(KindUsage, "%s: unknown CLI %s", w.Agent, w.CLI).hint("paw clis")
	}
	executable, err := p.executable(cli)
	return cli, executable, err
}

// terminalSize is the size of the user's terminal, or zero without one: tmux
// would otherwise lay out a detached session for 80x24.
func (p *Paw) terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
