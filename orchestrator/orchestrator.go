// Package orchestrator holds paw's use cases, one per file. It is the only
// package that knows sessions, worktrees, panes and CLIs together.
//
// Every use case gathers its facts once (observe), decides in pure functions
// (plan) and acts in steps that may be repeated (apply): a paw killed after any
// step leaves something that the next command finishes.
package orchestrator

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/session"
	"paw/tmux"
	"paw/worktree"
)

// lockWait bounds how long a command waits for another paw that holds a lock.
var lockWait = 30 * time.Second // tests do not wait that long

// Paw is one running paw: its configuration, its files and the user's environment.
type Paw struct {
	Config     config.Loaded
	Paths      config.Paths
	Store      session.Store
	Locks      session.Locks
	CLIs       agent.Set
	Executable string   // absolute path of paw, which panes run
	Dir        string   // the directory the user stands in
	Env        []string // the environment of the shell the user typed in
	Progress   io.Writer
	Note       func(text string) // called with what the user would otherwise find out too late; nil writes it to Progress
	Now        func() time.Time
	Step       func(name string)                               // called after each step that changes something; tests kill paw there
	follower   func(sessionName, agentName string)             // follows a turn; nil is a process of its own
	deliverer  func(sessionName, parent string, c Claim) error // starts a deliverer; nil is a process of its own
	configured string                                          // main worktree of the repository that Config is of
}

// New puts a Paw together from the user's directory and environment. It reads
// the configuration and starts no process. With an error about the configuration
// comes a Paw that has the defaults, for what must not stop because of it.
func New(dir string, env []string, progress io.Writer) (*Paw, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own path: %w", err)
	}
	paths := config.DefaultPaths()
	p := &Paw{
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
	root := ""
	if repository, err := worktree.Discover(dir); err == nil {
		root = repository.Path
	}
	return p, p.configure(root)
}

// configure reads the configuration for the repository with that main worktree.
// With an error p has the defaults.
func (p *Paw) configure(root string) error {
	var err error
	p.configured = root
	p.Config, err = config.Load(p.Paths, root, p.getenv)
	if err != nil {
		p.Config = config.Loaded{Config: config.Default()}
	}
	custom := map[string]agent.Custom{}
	for name, c := range p.Config.CLIs {
		custom[name] = agent.Custom{Name: name, Command: c.Command, Resume: c.Resume, Args: c.Args, Prompt: c.Prompt, Env: c.Env}
	}
	p.CLIs = agent.New(custom)
	return err
}

// configuredFor is p with the configuration of the repository of a session, which
// need not be the one the user stands in.
func (p *Paw) configuredFor(s *session.Session) (*Paw, error) {
	repository, err := discover(s)
	if err != nil || repository.Path == p.configured {
		return p, nil //nolint:nilerr // whoever needs the repository says that it is gone
	}
	other := *p
	return &other, other.configure(repository.Path)
}

func (p *Paw) getenv(name string) string {
	prefix := name + "="
	value := ""
	for _, kv := range p.Env {
		if len(kv) >= len(prefix) && kv[:len(prefix)] == prefix {
			value = kv[len(prefix):]
		}
	}
	return value
}

// note tells the user what would otherwise be found out too late.
func (p *Paw) note(format string, args ...any) {
	if p.Note != nil {
		p.Note(fmt.Sprintf(format, args...))
		return
	}
	p.say("paw: note: "+format, args...)
}

// say tells the user what goes on, on stderr.
func (p *Paw) say(format string, args ...any) {
	if p.Progress != nil {
		fmt.Fprintf(p.Progress, format+"\n", args...)
	}
}

// tmuxFor is the client for the server of a session: the recorded socket, or
// the configured one as long as none is recorded.
func (p *Paw) tmuxFor(s *session.Session) *tmux.Client {
	if s != nil && s.Tmux.Socket != "" {
		return tmux.New(s.Tmux.Socket)
	}
	return tmux.New(p.Config.Tmux.Socket)
}

// manager works on the repository of a session.
func (p *Paw) manager(repository worktree.Repository) worktree.Manager {
	return worktree.Manager{
		Repository: repository,
		Locks: func(ctx context.Context) (func(), error) {
			ctx, cancel := context.WithTimeout(ctx, lockWait)
			defer cancel()
			unlock, err := p.Locks.Repository(ctx, repository.CommonDir)
			if err != nil {
				return nil, p.recordError("", err)
			}
			return unlock, nil
		},
		Busy: func(path string) error {
			holders := session.LockHolders(path)
			if len(holders) == 0 {
				return failf(KindLocked, "%s: a git process is still at work here", repository.CommonDir)
			}
			return failf(KindLocked, "%s: a process that git or a hook of it has started is still at work here (pid %d)", repository.CommonDir, holders[0]).
				hint("ps -o pid,args -p %d", holders[0]).hint("kill %d", holders[0])
		},
	}
}

// update changes a record under the session lock, waiting at most lockWait.
func (p *Paw) update(ctx context.Context, name string, change func(*session.Session) error) (*session.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return p.Store.Update(ctx, name, change)
}

// stateDir is where paw keeps files of one agent's CLI, outside its worktree.
func (p *Paw) stateDir(sessionName, agentName string) string {
	return filepath.Join(p.Paths.StateDir, "agents", sessionName, agentName)
}
