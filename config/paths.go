package config

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
)

// Paths are the places of paw's own files. None is inside a repository.
type Paths struct {
	ConfigFile  string // the user's configuration
	SessionsDir string // session records
	StateDir    string // locks, turn logs, trust and the like
}

// DefaultPaths returns the places that the XDG base directory specification names, as the
// environment is now. Where HOME is not set, DefaultPaths sets HOME for the whole process. A HOME
// that is not absolute is an error: files would lie in whatever folder the user stands in.
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

// HomeError reports a HOME in which no files can be kept.
type HomeError struct{ Home string }

func (e *HomeError) Error() string {
	if e.Home == "" {
		return "HOME: not set, and the user database has no folder of this user"
	}
	return "HOME: " + e.Home + " is not absolute"
}

// setHome sets HOME, where it is not set, to the folder that the user database has.
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

// LocksDir holds the lock files.
func (p Paths) LocksDir() string { return filepath.Join(p.StateDir, "locks") }

// LaunchDir holds the files that a launch reads once and deletes.
func (p Paths) LaunchDir() string { return filepath.Join(p.StateDir, "launch") }

// TurnsDir holds the turn logs, one folder per session.
func (p Paths) TurnsDir() string { return filepath.Join(p.StateDir, "turns") }

// HostsDir holds what was last known of hosts.
func (p Paths) HostsDir() string { return filepath.Join(p.StateDir, "hosts") }

// TrustFile holds the texts of repositories that the user trusts.
func (p Paths) TrustFile() string { return filepath.Join(p.StateDir, "trust.json") }

// repositoryFile returns the path of the configuration that comes with a repository.
func repositoryFile(repo string) string { return filepath.Join(repo, ".paw.toml") }

var placeholders = []string{"{parent}", "{repo}", "{session}", "{agent}"}

// WorktreePath expands the template of worktree.path for one agent: {parent} is the folder that
// holds the repository, {repo} the repository's own name. The result is absolute and clean. An
// unknown placeholder, a line break or a relative result is an *Error.
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

// checkTemplate accepts a template whose braces are known placeholders and that is not relative.
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

// besideRepository reports whether a template can only lead to a folder beside the repository whose
// name begins with the repository's. Anywhere else a checkout could put files where a program runs
// them, such as an autostart folder.
func besideRepository(template string) bool {
	if !strings.HasPrefix(template, "{parent}/{repo}") {
		return false
	}
	return !slices.Contains(strings.Split(template, "/"), "..")
}
