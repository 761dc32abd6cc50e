// Package app has what every use case needs before it deals with agents: configuration, files and
// records, locks, the clock, the CLIs on this machine, and the repository of a session.
//
// It knows no pane and no turn. Of the packages of orchestrator it imports errs, and cli for the
// CLIs. Begin with App, then Agent.
package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// LockWait bounds how long a command waits for another paw that holds a lock.
var LockWait = 30 * time.Second // tests shorten it

// App is one running paw: its configuration, its files and the user's environment.
type App struct {
	Config     config.Loaded
	Mistake    error // error in the configuration; Config then has the defaults, or lacks only an unknown key
	Paths      config.Paths
	Store      session.Store
	Locks      session.Locks
	CLIs       clis.Set
	Executable string   // absolute path of paw, which panes run
	Dir        string   // current directory of the user
	Env        []string // environment of the user's shell
	Progress   io.Writer
	Typed      func(command string) []Flag // the typed flags, if this command runs; nil outside of a command line
	Note       func(text string)           // called with news that the user would otherwise get too late; nil writes them to Progress
	Now        func() time.Time
	Forgives   func(mistake error) bool  // reports whether a mistake in the configuration is tolerated; nil tolerates none
	Step       func(name string)         // called after each step that changes something; tests kill paw there
	Detached   func(args []string) error // starts paw with these arguments for Detach; nil starts a process
	Watcher    func(parents []string)    // keeps looking at parents, so that results reach them later; nil starts a wait in tmux
	DryRun     bool                      // the command writes nothing
	Look       *cli.Look                 // set while one command looks at many agents
	settings   *sync.Map                 // settings of repositories, by their common directories, read once; nil for none
	configured string                    // main worktree of the repository whose configuration Config has
}

// New returns an App for the user's directory and environment. It reads the configuration and
// starts no process. With an error about the configuration it also returns an App with the
// defaults, for what must not stop because of a mistake.
func New(dir string, env []string, progress io.Writer) (*App, error) {
	executable, err := ownPath(env)
	if err != nil {
		return nil, fmt.Errorf("own path: %w", err)
	}
	paths, err := config.DefaultPaths()
	if err != nil {
		return nil, errs.New(errs.Failed, "%w", err).Hint(`export HOME="$(cd -- "$HOME" && pwd)"`)
	}
	h := &App{
		Paths:      paths,
		Store:      session.Store{Dir: paths.SessionsDir, LocksDir: paths.LocksDir()},
		Locks:      session.Locks{Dir: paths.LocksDir()},
		Executable: executable,
		Dir:        dir,
		Env:        env,
		Progress:   progress,
		Now:        time.Now,
		Step:       func(string) {},
		settings:   &sync.Map{},
	}
	if h.Getenv("HOME") == "" {
		h.Env = append(slices.Clip(env), "HOME="+os.Getenv("HOME"))
	}
	root := ""
	if repository, err := gitdir.Discover(dir); err == nil {
		root = repository.Path
	}
	return h, h.Configure(root)
}

// ownPath returns the path by which paw was called, or else the one on PATH: often a link, which an
// upgrade leaves in place while it removes the file behind it. It is the file itself where neither
// leads to this program.
func ownPath(env []string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Stat(own)
	if err != nil {
		return own, nil //nolint:nilerr // the file was replaced while it runs
	}
	for _, called := range []string{os.Args[0], filepath.Base(own)} {
		path, err := cli.LookPath(called, env)
		if err != nil || filepath.Base(path) != filepath.Base(own) {
			continue // a link of another name, such as git-paw
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, file) {
			return path, nil
		}
	}
	return own, nil
}

// Configure reads the configuration for the repository with that main worktree. After an error
// Config has the defaults, or lacks only the unknown key.
func (h *App) Configure(root string) error {
	var err error
	h.configured = root
	h.Config, err = config.Load(h.Paths, root, h.Getenv)
	h.Mistake = err
	var mistake *config.Error
	if err != nil && (!errors.As(err, &mistake) || !mistake.Unknown) {
		h.Config = config.Loaded{Config: config.Default()}
	}
	h.CLIs = clis.New(h.Config.CLIs)
	return err
}

// Root returns the main worktree of the user's repository, "" for none.
func (h *App) Root() string { return h.configured }

// TellMistake reports a mistake in the configuration file of the repository, which stops nothing.
func (h *App) TellMistake() {
	if mistake := h.Config.RepositoryMistake; mistake != nil && h.Forgives != nil {
		h.Forgives(mistake)
	}
}

// Getenv returns a variable of the user's environment, "" when it is not set.
func (h *App) Getenv(name string) string { return cli.Getenv(h.Env, name) }

// Notef reports news that the user would otherwise get too late.
func (h *App) Notef(format string, args ...any) {
	if h.Note != nil {
		h.Note(fmt.Sprintf(format, args...))
		return
	}
	h.Sayf("paw: note: "+format, args...)
}

// Sayf reports progress on stderr.
func (h *App) Sayf(format string, args ...any) {
	if h.Progress != nil {
		fmt.Fprintf(h.Progress, format+"\n", args...)
	}
}

// StateDir returns the folder for paw's files about one agent, outside of its worktree.
func (h *App) StateDir(sessionName, agentName string) string {
	return h.Paths.AgentDir(sessionName, agentName)
}

// TmuxFor returns a client for the server of a session: on the recorded socket as long as a server
// can be there. When the socket's folder has gone with a reboot or logout, and the server with it,
// the client uses the socket for new sessions.
func (h *App) TmuxFor(s *session.Session) *tmux.Client {
	if s != nil && s.Tmux.Socket != "" && (tmux.Reachable(s.Tmux.Socket) || ServerLives(s)) {
		return tmux.New(s.Tmux.Socket)
	}
	return tmux.New(h.Config.Tmux.Socket)
}

// Queues returns the store of queued prompts.
func (h *App) Queues() session.QueueStore {
	return session.QueueStore{Dir: filepath.Join(h.Paths.StateDir, "queue"), LocksDir: h.Paths.LocksDir()}
}

// ServerLives reports whether the recorded server still runs, even without its socket: cleaners of
// /tmp delete sockets (anthropics/claude-code#54694).
func ServerLives(s *session.Session) bool {
	server := s.Tmux.Server()
	return tmux.IsServer(server.PID) && (server.BootID == "" || server.Alive())
}

// OnItsServer reports whether the server that answered is the recorded one.
func OnItsServer(s *session.Session, answered tmux.Server) bool {
	server := s.Tmux.Server()
	if answered.PID == 0 || answered.PID != server.PID {
		return false
	}
	if server.BootID == "" { // recorded without a boot id: compare the start times that tmux gives
		return answered.Started == s.Tmux.ServerStarted
	}
	return server.Alive()
}

// WritePrivate writes a file with mode 0600, and makes its folder.
func WritePrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(path, content, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}

// Agent is one agent, with what a command needs to do something with it.
type Agent struct {
	App     *App
	Session *session.Session
	Record  *session.Agent
	Repo    *worktree.Manager // repository of the session; nil before In
}

// Agent returns the handle of an agent of a session, without its repository.
func (h *App) Agent(s *session.Session, w *session.Agent) Agent {
	return Agent{App: h, Session: s, Record: w}
}

// In returns the handle with the repository of the session.
func (a Agent) In(m *worktree.Manager) Agent {
	a.Repo = m
	return a
}

// TurnDir returns the folder with the agent's turn logs.
func (a Agent) TurnDir() turn.Dir { return a.App.TurnDir(a.Session.Name, a.Record.Name) }

// ProbeLock looks at the agent's lock, and finds its holder.
func (a Agent) ProbeLock() (session.AgentLock, error) {
	return a.App.Locks.ProbeAgent(a.Session.Name, a.Record.Name)
}
