package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree/git"
)

// The oldest versions that paw works with: tmux 3.2 has new-session -e and the size options, git
// 2.39 has merge-tree --stdin.
const (
	tmuxMajor, tmuxMinor = 3, 2
	gitMajor, gitMinor   = 2, 39
)

// RequireTools refuses to go on without git and tmux of a usable version.
func (h *App) RequireTools(ctx context.Context) error {
	var tmuxErr error
	var asking sync.WaitGroup
	asking.Go(func() {
		tmuxErr = h.once("tmux", func() error { _, err := h.usableTmux(ctx); return err })
	})
	err := h.RequireGit(ctx)
	asking.Wait()
	return cmp.Or(err, tmuxErr)
}

// RequireGit refuses to go on without git of a usable version.
func (h *App) RequireGit(ctx context.Context) error {
	return h.once("git", func() error { _, err := usableGit(ctx); return err })
}

// ToolVersions returns a line with the versions of git and tmux, or an error where one is not
// usable.
func (h *App) ToolVersions(ctx context.Context) (string, error) {
	ofGit, err := usableGit(ctx)
	if err != nil {
		return "", err
	}
	ofTmux, err := h.usableTmux(ctx)
	return fmt.Sprintf("git %s and tmux %s are new enough", ofGit, ofTmux), err
}

// usableGit returns git's version, and an error if it is missing or too old.
func usableGit(ctx context.Context) (version string, err error) {
	major, minor, raw, err := git.Version(ctx)
	if errors.Is(err, git.ErrNotInstalled) {
		return "", errs.New(errs.Missing, "git: not installed").Hint(installGit)
	}
	if err == nil && (major < gitMajor || major == gitMajor && minor < gitMinor) {
		err = errs.New(errs.Missing, "git %s: too old, paw needs %d.%d or newer", raw, gitMajor, gitMinor).Hint(installGit)
	}
	return raw, err
}

// installGit is the page where git can be downloaded.
const installGit = "https://git-scm.com/downloads"

// MissingProgram turns the error of a PATH without git or tmux into an *errs.Error with a hint, and
// returns other errors unchanged. Every error of a command passes through it.
func MissingProgram(err error) error {
	if said, ok := errors.AsType[*errs.Error](err); ok && said.Kind == errs.Missing {
		return err
	}
	switch {
	case errors.Is(err, git.ErrNotInstalled):
		return errs.New(errs.Missing, "%w", err).Hint(installGit)
	case errors.Is(err, tmux.ErrNotInstalled):
		return errs.New(errs.Missing, "%w", err).Hint("%s", installTmux())
	}
	return err
}

// usableTmux returns tmux's version, and an error if it is missing or too old.
func (h *App) usableTmux(ctx context.Context) (version string, err error) {
	v, err := h.TmuxFor(nil).Version(ctx)
	if err == nil && !v.AtLeast(tmuxMajor, tmuxMinor) {
		err = errs.New(errs.Missing, "tmux %s: too old, paw needs %d.%d or newer", v.Raw, tmuxMajor, tmuxMinor).Hint("%s", installTmux())
	}
	return v.Raw, TmuxError(err)
}

// NoTmux returns the error of a command that needs tmux for agents that may be running, nil unless
// err says that PATH has no tmux.
func NoTmux(object string, err error) *errs.Error {
	if !errors.Is(err, tmux.ErrNotInstalled) {
		return nil
	}
	return errs.New(errs.Missing, "%s: tmux is not on the PATH of this shell, and agents may still run", object).Hint("%s", installTmux())
}

// TmuxError turns an error of tmux into an *errs.Error with a hint.
func TmuxError(err error) error {
	var unsafe *tmux.UnsafeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsafe):
		return errs.New(errs.Refused, "%w", err).Hint("%s", ownSocket(unsafe))
	case errors.Is(err, tmux.ErrNotInstalled):
		return errs.New(errs.Missing, "tmux: not installed").Hint("%s", installTmux())
	case errors.Is(err, tmux.ErrTooOldServer):
		return errs.New(errs.Missing, "%w", err).Hint("paw attach")
	case errors.Is(err, tmux.ErrTimeout):
		return errs.New(errs.Failed, "%w", err).Hint("paw doctor")
	}
	return err
}

// AttachOldServer returns the command that shows a session of a server which is older than the tmux
// program: only the program that the server runs still reaches it. It is "" where that is unknown.
func AttachOldServer(s *session.Session) string {
	program := fmt.Sprintf("/proc/%d/exe", s.Tmux.ServerPID)
	if _, err := os.Lstat(program); err != nil || !s.Tmux.Server().Alive() {
		return ""
	}
	return fmt.Sprintf("%s -S %s attach-session -t '=%s'", program, errs.Quote(s.Tmux.Socket), s.Tmux.Session) // zsh replaces a bare =NAME
}

// AttachElsewhere returns the command that shows a session whose tmux server sees other files than this process, which is in a
// container or a sandbox. It is "" where the socket is gone for the server, too.
func AttachElsewhere(s *session.Session) string {
	socket := fmt.Sprintf("/proc/%d/root%s", s.Tmux.ServerPID, s.Tmux.Socket)
	if _, err := os.Lstat(socket); err != nil || !s.Tmux.Server().Alive() {
		return ""
	}
	return fmt.Sprintf("tmux -S %s attach-session -t '=%s'", errs.Quote(socket), s.Tmux.Session)
}

// ownSocket returns the command after which paw finds a tmux server that no other user can write
// to.
func ownSocket(e *tmux.UnsafeError) string {
	switch {
	case e.Mine:
		return "chmod o-rwx " + errs.Quote(e.Path)
	case e.Named && e.Path != e.Socket:
		return `export TMUX_TMPDIR="$HOME"`
	}
	return "export PAW_TMUX_SOCKET=paw"
}

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

// Program returns the path of a CLI's program on the user's PATH.
func (h *App) Program(c cli.CLI) (string, error) {
	path, err := cli.LookPath(c.Program(), h.Env)
	if err != nil {
		missing := errs.New(errs.Missing, "%s: is not installed", c.Name())
		if c.Program() != c.Name() {
			missing = errs.New(errs.Missing, "%s: %s is not installed", c.Name(), c.Program())
		} else if install := cli.Install(c.Name()); install != "" {
			missing = missing.Hint("%s", install)
		}
		return "", missing.Hint("paw clis")
	}
	return path, nil
}

// CLIOf returns the CLI of an agent; its program need not be installed.
func (h *App) CLIOf(w *session.Agent) (cli.CLI, error) {
	c, ok := h.CLIs.Get(w.CLI)
	if !ok {
		return cli.CLI{}, errs.New(errs.Usage, "%s: unknown CLI %s", w.Name, w.CLI).Hint("paw clis")
	}
	return c, nil
}

// ProgramOf returns the CLI of an agent and its program: the one on the user's PATH, else the one
// that the agent was started with. PATH differs in cron jobs, in ssh sessions and under version
// managers.
func (h *App) ProgramOf(w *session.Agent) (cli.CLI, string, error) {
	c, err := h.CLIOf(w)
	if err != nil {
		return c, "", err
	}
	executable, err := h.Program(c)
	if at := programIn(w.Command, c); err != nil && at >= 0 {
		if recorded, gone := cli.LookPath(w.Command[at], nil); gone == nil {
			return c, recorded, nil
		}
	}
	return c, executable, err
}

// programIn returns the index of the program's path in a command, -1 for none.
func programIn(command []string, c cli.CLI) int {
	return slices.IndexFunc(command, func(word string) bool { return filepath.IsAbs(word) && filepath.Base(word) == c.Program() })
}

// TurnDir returns the folder with the turn logs of an agent.
func (h *App) TurnDir(sessionName, agentName string) turn.Dir {
	return turn.Dir{Path: filepath.Join(h.Paths.TurnsDir(), sessionName, agentName)}
}

// BuiltIn is the CLI that is always installed.
const BuiltIn = "demo"

// StartHints returns commands that begin a session here, the best one first, with a CLI that is
// installed. If only the built-in one is, the first command installs a CLI.
func (h *App) StartHints() []string {
	if name := h.InstalledCLI(); name != "" {
		return []string{"paw start --cli " + name}
	}
	return []string{cmp.Or(cli.Install(h.Config.DefaultCLI), cli.Install("claude")), "paw start --cli " + BuiltIn}
}

// InstalledCLI returns the configured default CLI if it is installed, else the first installed one;
// "" if only the built-in one is.
func (h *App) InstalledCLI() string {
	preferred := h.Config.DefaultCLI
	for _, name := range slices.Concat([]string{preferred}, h.CLIs.Names()) {
		if c, known := h.CLIs.Get(name); known && (name != BuiltIn || preferred == BuiltIn) {
			if _, err := cli.LookPath(c.Program(), h.Env); err == nil {
				return name
			}
		}
	}
	return ""
}
