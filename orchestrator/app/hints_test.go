package app

import (
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"paw/worktree/git"
)

// TestHintsNameWhatIsThere: a scratch folder is gone when its error is shown, and git names a file without its checkout.
func TestHintsNameWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "scratch", "index")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "write", Path: gone, Err: syscall.ENOSPC}, "df -h " + dir},
		{&fs.PathError{Op: "open", Path: gone, Err: syscall.EACCES}, "ls -ld " + dir},
		{&git.Error{Args: []string{"read-tree"}, Dir: dir, Stderr: "error: unable to unlink old 'd/f': Permission denied\n"}, "ls -la " + dir},
	} {
		if got := HintsOf(c.err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}
