package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestChangedLines(t *testing.T) {
	w := newWorld(t)
	_ = w
	_ = os.Remove
	_ = filepath.Join
}
