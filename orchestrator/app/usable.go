package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// once asks whether a program is usable unless the file that PATH leads to is the one that was found to be so before. What
// is not usable is asked again: the user has been told what to do.
func (h *App) once(program string, ask func() error) error {
	mark, kept := markOf(program), filepath.Join(h.Paths.StateDir, "usable-"+program)
	if known, err := os.ReadFile(kept); err == nil && mark != "" && string(known) == mark {
		return nil
	}
	err := ask()
	if err == nil && mark != "" && os.MkdirAll(h.Paths.StateDir, 0o700) == nil {
		_ = os.WriteFile(kept, []byte(mark), 0o600) // half a mark is none
	}
	return err
}

// markOf tells the file of a program, and the paw that needs it, from any other; "" where that cannot be said.
func markOf(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s\n%d %d %d %d\n%d.%d %d.%d\n", path, stat.Dev, stat.Ino, info.Size(), info.ModTime().UnixNano(),
		gitMajor, gitMinor, tmuxMajor, tmuxMinor)
}
