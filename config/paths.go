package config

import (
	"os"
	"os/user"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Paths are the places paw keeps its own files in. None is inside a repository.
type Paths struct {
	ConfigFile  string // the user's configuration
	SessionsDir string // session records
	StateDir    string // locks, turn logs, trust and the like
}

// DefaultPaths returns the places that the XDG base directory specification
// names, as the environment stands now. HOME is set for the whole process where
// it was not. A HOME that is not absolute is an error: files would lie in
// whatever folder the user stands in.
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

// HomeError is a HOME that is no place for files.
type HomeError struct{ Home string }

func (e *HomeError) Error() string {
	if e.Home == "" {
		return "HOME: not set, and the user database has no folder of this user"
	}
	return "HOME: " + e.Home + " is not absolute"
}

// setHome sets HOME to what the user database says where it is not set.
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

// LaunchDir holds what a launcher reads once and deletes.
func (p Paths) LaunchDir() string { return filepath.Join(p.StateDir, "launch") }

// TurnsDir holds the turn logs, one folder per session.
func (p Paths) TurnsDir() string { return filepath.Join(p.StateDir, "turns") }

// TrustFile remembers which repository commands the user trusts.
func (p Paths) TrustFile() string { return filepath.Join(p.StateDir, "trust.json") }

// repositoryFile is the configuration that comes with a repository.
func repositoryFile(repo string) string { return filepath.Join(repo, ".paw.toml") }
