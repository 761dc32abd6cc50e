package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// doomed ends the name of a trash folder that may be deleted: all that is in it
// was found to be in commits that refs keep.
const doomed = ".delete"

// sweep deletes what is doomed in these trash folders in the background, also
// what an earlier sweep that was killed left. It outlives paw.
func sweep(ctx context.Context, trash ...string) {
	slices.Sort(trash)
	var found []string
	for _, dir := range slices.Compact(trash) {
		content, _ := os.ReadDir(dir)
		for _, item := range content {
			if strings.HasSuffix(item.Name(), doomed) {
				found = append(found, filepath.Join(dir, item.Name()))
			}
		}
	}
	if len(found) == 0 {
		return
	}
	// Folders without write permission, as in Go's module cache, need it to be emptied.
	args := append([]string{"-c", `chmod -R u+rwX -- "$@" 2>/dev/null; exec rm -rf -- "$@"`, "sh"}, found...)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = setUpPatience
	if cmd.Start() == nil {
		go cmd.Wait() // where paw lives on, it leaves no zombie
	}
}
