package tmux

import (
	"os"
	"path/filepath"
)

// Configured reports whether the user has a configuration file in a place where tmux looks for one. home is the user's
// home directory, and config the folder that XDG_CONFIG_HOME names, "" for none.
func Configured(home, config string) bool {
	files := []string{"/etc/tmux.conf", filepath.Join(home, ".tmux.conf"), filepath.Join(home, ".config", "tmux", "tmux.conf")}
	if config != "" {
		files = append(files, filepath.Join(config, "tmux", "tmux.conf"))
	}
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return false
}
