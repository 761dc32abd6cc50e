package app

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// WritePrivate saves a file only the user may read, with its folder.
func WritePrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(path, content, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}
