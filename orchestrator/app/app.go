// Package app is what every use case needs before it knows anything of agents: configuration, files and records, locks,
// the clock, the CLIs on this machine, and the repository of a session.
//
// It knows no pane and no turn, and imports none of the rooms above it but the words of orchestrator/errs and the
// claims of orchestrator/live. Begin with App.
package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"paw/config"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
	"paw/worktree"
)

// LockWait bounds how long a command waits for another paw that holds a lock.
var LockWait = 30 * time.Second // tests do not wait that long

// App is one running paw: its configuration, its files and the user's environment.
type App struct {
	Config     config.Loaded
	Mistake    error // in the configuration, which is why Config has the defaults, or all but a key that is not known
	Paths      config.Paths
	Store      session.Store
	Locks      session.Locks
	CLIs       clis.Set
	Executable string   // absolute path of paw, which panes run
	Dir        string   // the directory the user stands in
	Env        []string // the environment of the shell the user typed in
	Progress   io.Writer
	Note       func(text string) // called with what the user would otherwise find out too late; nil writes it to Progress
	Now        func() time.Time
	Forgives   func(mistake error) bool                             // reports whether a mistake in the configuration stops nothing; nil is for none
	Step       func(name string)                                    // called after each step that changes something; tests kill paw there
	Follower   func(sessionName, agentName string)                  // follows a turn; nil is a process of its own
	Deliverer  func(sessionName, parent string, c live.Claim) error // starts a deliverer; nil is a process of its own
	Watcher    func(parents []string)                               // lets somebody look at parents again; nil is tmux
	configured string                                               // main worktree of the repository that Config is of
}

// New puts a Home together from the user's directory and environment. It reads
// the configuration and starts no process. With an error about the configuration
// comes a Home that has the defaults, for what must not stop because of it.
func New(dir string, env []string, progress io.Writer) (*App, error) {
	executable, err := os.Executable()
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
	}
	if h.Getenv("HOME") == "" {
		h.Env = append(slices.Clip(env), "HOME="+os.Getenv("HOME"))
	}
	root := ""
	if repository, err := worktree.Discover(dir); err == nil {
		root = repository.Path
	}
	return h, h.Configure(root)
}

// Configure reads the configuration for the repository with that main worktree.
// With an error h has the defaults, or where a key is not known all the rest.
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

// Root is the main worktree of the repository that the user stands in, "" for none.
func (h *App) Root() string { return h.configured }

// TellMistake tells of a mistake in the file of the repository, which stops nothing.
func (h *App) TellMistake() {
	if mistake := h.Config.RepositoryMistake; mistake != nil && h.Forgives != nil {
		h.Forgives(mistake)
	}
}

// Getenv is a variable of the user's environment, "" when it is not set.
func (h *App) Getenv(name string) string {
	prefix := name + "="
	value := ""
	for _, kv := range h.Env {
		if len(kv) >= len(prefix) && kv[:len(prefix)] == prefix {
			value = kv[len(prefix):]
		}
	}
	return value
}

// Notef tells the user what would otherwise be found out too late.
func (h *App) Notef(format string, args ...any) {
	if h.Note != nil {
		h.Note(fmt.Sprintf(format, args...))
		return
	}
	h.Sayf("paw: note: "+format, args...)
}

// Sayf tells the user what goes on, on stderr.
func (h *App) Sayf(format string, args ...any) {
	if h.Progress != nil {
		fmt.Fprintf(h.Progress, format+"\n", args...)
	}
}

// StateDir is where paw keeps files of one agent's CLI, outside its worktree.
func (h *App) StateDir(sessionName, agentName string) string {
	return filepath.Join(h.Paths.StateDir, "agents", sessionName, agentName)
}

// TmuxFor returns the client for the server of a session: that of the recorded socket as long as a server can be there. Where it
// cannot, because the folder of the socket has gone with a reboot or a logout and the server with it, the session goes on where
// new ones are started.
func (h *App) TmuxFor(s *session.Session) *tmux.Client {
	if s != nil && s.Tmux.Socket != "" && (tmux.Reachable(s.Tmux.Socket) || ServerLives(s)) {
		return tmux.New(s.Tmux.Socket)
	}
	return tmux.New(h.Config.Tmux.Socket)
}

// Queues are the prompts that wait, by session.
func (h *App) Queues() session.QueueStore {
	return session.QueueStore{Dir: filepath.Join(h.Paths.StateDir, "queue"), LocksDir: h.Paths.LocksDir()}
}

// ServerLives reports whether the recorded server still runs, whatever its socket says: cleaners of /tmp delete sockets
// (anthropics/claude-code#54694).
func ServerLives(s *session.Session) bool {
	server := s.Tmux.Server()
	return tmux.IsServer(server.PID) && (server.BootID == "" || server.Alive())
}

// OnItsServer reports whether the server that answered is the one in the record of a session.
func OnItsServer(s *session.Session, answered tmux.Server) bool {
	server := s.Tmux.Server()
	if answered.PID == 0 || answered.PID != server.PID {
		return false
	}
	if server.BootID == "" { // tmux has both times from the same clock, once and for all
		return answered.Started == s.Tmux.ServerStarted
	}
	return server.Alive()
}

// WritePrivate saves a file only the user may read, with its folder.
func WritePrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(path, content, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}
