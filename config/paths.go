package config

import (
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
// names, as the environment stands now.
func DefaultPaths() Paths {
	xdg.Reload()
	return Paths{
		ConfigFile:  filepath.Join(xdg.ConfigHome, "paw", "config.toml"),
		SessionsDir: filepath.Join(xdg.DataHome, "paw", "sessions"),
		StateDir:    filepath.Join(xdg.StateHome, "paw"),
	}
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
