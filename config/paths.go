package config

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
)

// Paths holds the places of paw's own files, all outside of repositories.
type Paths struct {
	ConfigFile  string // the user's configuration
	SessionsDir string // folder of the session records
	StateDir    string // folder of locks, turn logs, the trust file and more
}

// DefaultPaths returns the places of the XDG base directory specification for the current
// environment. If HOME is not set, DefaultPaths sets it for the whole process. A relative HOME is
// an error: files would be put into the working directory.
func DefaultPaths() (Paths, error) {
	if err := setHome(); err != nil {
		return Paths{}, err
	}
	xdg.Reload()
	return Paths{
		ConfigFile:  filepath.Join(xdg.ConfigHome, "paw", "config.toml"),
		SessionsDir: filepath.Join(xdg.DataHome, "paw", "sessions"),
		StateDir:    filepath.Join(xdg.StateHome, "paw"),
	}, nil
}

// HomeError says that HOME is missing or relative.
type HomeError struct{ Home string }

func (e *HomeError) Error() string {
	if e.Home == "" {
		return "HOME: not set, and the user database has no folder of this user"
	}
	return "HOME: " + e.Home + " is not absolute"
}

// setHome sets a missing HOME to the folder in the user database.
func setHome() error {
	home := os.Getenv("HOME")
	if home == "" {
		u, err := user.Current()
		if err != nil || !filepath.IsAbs(u.HomeDir) {
			return &HomeError{}
		}
		return os.Setenv("HOME", u.HomeDir)
	}
	if !filepath.IsAbs(home) {
		return &HomeError{home}
	}
	return nil
}

// LocksDir returns the folder of the lock files.
func (p Paths) LocksDir() string { return filepath.Join(p.StateDir, "locks") }

// LaunchDir returns the folder of files that a launch reads once and deletes.
func (p Paths) LaunchDir() string { return filepath.Join(p.StateDir, "launch") }

// TurnsDir returns the folder of the turn logs, one folder per session.
func (p Paths) TurnsDir() string { return filepath.Join(p.StateDir, "turns") }

// AgentDir returns the folder for paw's files about one agent, outside of its worktree.
func (p Paths) AgentDir(session, agent string) string {
	return filepath.Join(p.StateDir, "agents", session, agent)
}

// HostsDir returns the folder of the last known states of hosts.
func (p Paths) HostsDir() string { return filepath.Join(p.StateDir, "hosts") }

// TrustFile returns the file with the texts that the user trusts, per repository.
func (p Paths) TrustFile() string { return filepath.Join(p.StateDir, "trust.json") }

// repositoryFile returns the path of the configuration file in a repository.
func repositoryFile(repo string) string { return filepath.Join(repo, ".paw.toml") }

var placeholders = []string{"{parent}", "{repo}", "{session}", "{agent}"}

// WorktreePath expands worktree.path for one agent: {parent} is the folder around the repository,
// {repo} the repository's own name. The result is absolute and clean. The error is an *Error for an
// unknown placeholder, a line break or a relative result.
func (c Config) WorktreePath(repoPath, session, agent string) (string, error) {
	template := c.Worktree.Path
	if p := checkTemplate(template); p != nil {
		return "", p.of("worktree.path")
	}
	expanded := strings.NewReplacer(
		"{parent}", filepath.Dir(repoPath),
		"{repo}", filepath.Base(repoPath),
		"{session}", session,
		"{agent}", agent,
	).Replace(template)
	if p := checkVisible(expanded); p != nil {
		return "", p.of("worktree.path")
	}
	if !filepath.IsAbs(expanded) {
		return "", problemf("%q is not an absolute path", expanded).of("worktree.path")
	}
	return filepath.Clean(expanded), nil
}

// checkTemplate accepts a template that is not relative, with known placeholders only.
func checkTemplate(template string) *problem {
	if p := checkVisible(template); p != nil {
		return p
	}
	if template == "" {
		return problemf("must not be empty")
	}
	rest := template
	for {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			break
		}
		length := strings.IndexByte(rest[open:], '}') + 1
		if length < 2 {
			return problemf("%q has a brace without its partner", template)
		}
		name := rest[open : open+length]
		if !slices.Contains(placeholders, name) {
			p := problemf("unknown placeholder %s (known: %s)", name, strings.Join(placeholders, " "))
			p.nearest = Nearest(name, placeholders)
			return p
		}
		rest = rest[open+length:]
	}
	if !strings.HasPrefix(template, "/") && !strings.HasPrefix(template, "{parent}") {
		return problemf("%q is relative; begin it with / or {parent}", template)
	}
	return nil
}

// besideRepository reports whether a template always leads to a folder next to the repository whose
// name starts with the repository's. In other places a checkout could put files where programs run
// them, such as an autostart folder.
func besideRepository(template string) bool {
	if !strings.HasPrefix(template, "{parent}/{repo}") {
		return false
	}
	return !slices.Contains(strings.Split(template, "/"), "..")
}
