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

// emptying is the shell script that deletes its arguments. Folders without write
// permission, as in Go's module cache, get it first; files do not: one that is a
// hard link would change its mode in the store that it comes from, too. Nothing on
// another file system is touched.
const emptying = `find "$@" -xdev -type d ! -perm -u=rwx -exec chmod u+rwx {} \; 2>/dev/null; exec find "$@" -xdev -depth -delete`

// doom deletes what toTrash has moved to these places, in the background. One that
// cannot be marked for it stays.
func (m Manager) doom(ctx context.Context, moved ...string) {
	dirs := []string{m.trashDir()}
	for _, path := range moved {
		if item := filepath.Dir(path); path != "" && os.Rename(item, item+doomed) == nil {
			dirs = append(dirs, filepath.Dir(item))
		}
	}
	if m.doomed != nil {
		*m.doomed = append(*m.doomed, dirs...)
		return
	}
	sweep(ctx, dirs...)
}

// SweepLater is m for several removals, after which the caller sweeps once: each sweep looks at all that is doomed.
func (m Manager) SweepLater() (later Manager, sweepNow func(context.Context)) {
	doomed := []string{}
	m.doomed = &doomed
	return m, func(ctx context.Context) { sweep(ctx, doomed...) }
}

// sweep deletes what is doomed in these trash folders in the background, also
// what an earlier sweep that was killed left. It outlives paw.
func sweep(ctx context.Context, trash ...string) {
	slices.Sort(trash)
	mounts, err := mountPoints()
	if err != nil {
		return // what cannot be seen might be emptied
	}
	var found []string
	for _, dir := range slices.Compact(trash) {
		content, _ := os.ReadDir(dir)
		for _, item := range content {
			path := filepath.Join(dir, item.Name())
			if strings.HasSuffix(path, doomed) && len(mountsAmong(mounts, path)) == 0 {
				found = append(found, path)
			}
		}
	}
	if len(found) == 0 {
		return
	}
	args := append([]string{"-c", emptying, "sh"}, found...)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"} // some systems have no find there
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = commandPatience
	if cmd.Start() == nil {
		go cmd.Wait() // where paw lives on, it leaves no zombie
	}
}
