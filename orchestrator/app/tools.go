package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
	"paw/worktree/git"
)

// The oldest versions paw works with: tmux 3.2 has new-session -e and the size
// options it needs, git 2.34 has worktree add --lock --reason.
const (
	tmuxMajor, tmuxMinor = 3, 2
	gitMajor, gitMinor   = 2, 34
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

// ToolVersions asks git and tmux for their versions, and says that both are usable.
func (h *App) ToolVersions(ctx context.Context) (string, error) {
	ofGit, err := usableGit(ctx)
	if err != nil {
		return "", err
	}
	ofTmux, err := h.usableTmux(ctx)
	return fmt.Sprintf("git %s and tmux %s are new enough", ofGit, ofTmux), err
}

// usableGit returns the version of git.
func usableGit(ctx context.Context) (version string, err error) {
	major, minor, raw, err := git.Version(ctx)
	if errors.Is(err, git.ErrNotInstalled) {
		return "", errs.New(errs.Missing, "git: not installed").Hint(installGit)
	}
	if err == nil && (major < gitMajor || major == gitMajor && minor < gitMinor) {
		err = errs.New(errs.Missing, "git %s: too old, paw needs %d.%d or newer", raw, gitMajor, gitMinor)
	}
	return raw, err
}

// installGit is where git is to be had.
const installGit = "https://git-scm.com/downloads"

// MissingProgram puts an error whose cause is that PATH has no git, or no tmux, into the user's words, and returns any other
// error as it is. Every error of a command goes through it.
func MissingProgram(err error) error {
	var said *errs.Error
	if errors.As(err, &said) && said.Kind == errs.Missing {
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

// usableTmux returns the version of tmux.
func (h *App) usableTmux(ctx context.Context) (version string, err error) {
	v, err := h.TmuxFor(nil).Version(ctx)
	if err == nil && !v.AtLeast(tmuxMajor, tmuxMinor) {
		err = errs.New(errs.Missing, "tmux %s: too old, paw needs %d.%d or newer", v.Raw, tmuxMajor, tmuxMinor)
	}
	return v.Raw, TmuxError(err)
}

// NoTmux is the error of a command that needs tmux for agents that may run, nil where the error is not that PATH has no tmux.
func NoTmux(object string, err error) *errs.Error {
	if !errors.Is(err, tmux.ErrNotInstalled) {
		return nil
	}
	return errs.New(errs.Missing, "%s: tmux is not on the PATH of this shell, and agents may still run", object).Hint("%s", installTmux())
}

// TmuxError puts an error of tmux into the user's words.
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
		return errs.New(errs.Missing, "%w", err).Hint("detach, then 'tmux kill-server' when nothing in it is needed any more")
	case errors.Is(err, tmux.ErrTimeout):
		return errs.New(errs.Failed, "%w", err).Hint("paw doctor")
	}
	return err
}

// ownSocket is the command after which paw finds a tmux server that is the user's alone.
func ownSocket(e *tmux.UnsafeError) string {
	switch {
	case e.Mine:
		return "chmod o-rwx " + errs.Quote(e.Path)
	case e.Named:
		return `export TMUX_TMPDIR="$HOME"`
	}
	return "export PAW_TMUX_SOCKET=paw"
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

// Program finds the program of a CLI on the user's PATH.
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

// CLIOf is the CLI of an agent; its program need not be installed.
func (h *App) CLIOf(w *session.Agent) (cli.CLI, error) {
	c, ok := h.CLIs.Get(w.CLI)
	if !ok {
		return cli.CLI{}, errs.New(errs.Usage, "%s: unknown CLI %s", w.Name, w.CLI).Hint("paw clis")
	}
	return c, nil
}

// ProgramOf is the CLI of an agent and its program: that on the user's PATH, else the one that the agent was started with.
// Cron, ssh and version managers have other PATHs.
func (h *App) ProgramOf(w *session.Agent) (cli.CLI, string, error) {
	c, err := h.CLIOf(w)
	if err != nil {
		return c, "", err
	}
	executable, err := h.Program(c)
	if err != nil && len(w.Command) > 0 && filepath.Base(w.Command[0]) == c.Program() {
		if recorded, gone := cli.LookPath(w.Command[0], nil); gone == nil {
			return c, recorded, nil
		}
	}
	return c, executable, err
}

// EnvFor is an environment in which a program that is not on its PATH finds an interpreter that lies beside it.
func (h *App) EnvFor(env []string, w *session.Agent, executable string) []string {
	c, known := h.CLIs.Get(w.CLI)
	if !known || !filepath.IsAbs(executable) {
		return env
	}
	if _, err := cli.LookPath(c.Program(), env); err == nil {
		return env
	}
	folders := append(filepath.SplitList(cli.Getenv(env, "PATH")), filepath.Dir(executable))
	return append(slices.Clip(env), "PATH="+strings.Join(folders, string(filepath.ListSeparator)))
}

// Spec is what an adapter needs to know of one launch of an agent.
func (h *App) Spec(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := h.SpecFor(s, w, executable)
	spec.Env = h.EnvFor(spec.Env, w, executable)
	if repository, err := worktree.Discover(w.WorktreePath); err == nil {
		spec.GitDir = repository.GitDir
	}
	return spec
}

// SpecFor is Spec without what has to be looked up in the worktree: enough to
// read a CLI's own files, for which status has little time.
func (h *App) SpecFor(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := cli.Spec{
		Executable: executable, Worktree: w.WorktreePath, RepoPath: s.RepoPath, GitCommonDir: s.GitCommonDir,
		StateDir: h.StateDir(s.Name, w.Name), ConversationID: w.Conversation(), Env: h.recordedEnv(w),
		Session: s.Name, Agent: w.Name, Hook: h.Executable, Since: w.CreatedAt,
	}
	if spec.Since.IsZero() {
		spec.Since = s.CreatedAt
	}
	h.openGit(&spec, w.CLI)
	return spec
}

// DraftSpec is a spec of an agent that does not exist yet, to ask an adapter
// whether it can take a prompt.
func (h *App) DraftSpec(c cli.CLI, executable, prompt string) cli.Spec {
	spec := cli.Spec{Executable: executable, Worktree: h.Dir, RepoPath: h.Dir, ConversationID: c.NewConversation(), Prompt: prompt, Env: h.Env, StateDir: h.StateDir("draft", c.Name())}
	h.openGit(&spec, c.Name())
	return spec
}

func (h *App) openGit(spec *cli.Spec, cli string) {
	// Further arguments of the configuration are the adapters' business (cli.New).
	spec.GitWritable = h.Config.CLIs[cli].GitWritable
}

// recordedEnv is the user's environment with what was recorded at the first
// launch: it decides where the CLI looks for its conversations.
func (h *App) recordedEnv(w *session.Agent) []string {
	env := append([]string{}, h.Env...)
	for name, value := range w.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// RememberedEnvironment picks the variables that resuming needs again. One that
// was not set is remembered as empty: it must not be set later either.
func (h *App) RememberedEnvironment(cli cli.CLI) map[string]string {
	env := map[string]string{}
	for _, name := range cli.Environment() {
		env[name] = h.Getenv(name)
	}
	return env
}

// TurnDir is the folder with the turn logs of an agent.
func (h *App) TurnDir(sessionName, agentName string) turn.Dir {
	return turn.Dir{Path: filepath.Join(h.Paths.TurnsDir(), sessionName, agentName)}
}

// builtIn is the CLI that is always installed.
const builtIn = "demo"

// StartHints are the commands that begin a session here, the best one first. They name a CLI that is installed: the
// configured default, else the first there is. Where there is none but the built-in one, the first command installs one.
func (h *App) StartHints() []string {
	if name := h.InstalledCLI(); name != "" {
		return []string{"paw start --cli " + name}
	}
	return []string{cmp.Or(cli.Install(h.Config.DefaultCLI), cli.Install("claude")), "paw start --cli " + builtIn}
}

// InstalledCLI is the configured default where it is installed, else the first CLI that is; "" where there is none but the built-in one.
func (h *App) InstalledCLI() string {
	preferred := h.Config.DefaultCLI
	for _, name := range slices.Concat([]string{preferred}, h.CLIs.Names()) {
		if c, known := h.CLIs.Get(name); known && (name != builtIn || preferred == builtIn) {
			if _, err := cli.LookPath(c.Program(), h.Env); err == nil {
				return name
			}
		}
	}
	return ""
}
