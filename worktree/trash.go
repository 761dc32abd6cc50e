package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Trash holds what was taken away, until it is deleted.
type Trash struct {
	Repository Repository

	doomed *[]string // folders to sweep later, nil to sweep them at once
}

// dir is where things go that are in the way and may not be deleted.
func (t Trash) dir() string { return filepath.Join(t.Repository.CommonDir, "paw", "trash") }

// Kept lists what stays in the trash folder dir until somebody deletes it: removed
// directories, and registrations that went without one.
func (t Trash) Kept() (kept []string, dir string) {
	content, _ := os.ReadDir(t.dir())
	for _, item := range content {
		registration, _ := filepath.Match("*-registration-*", item.Name())
		if !registration && !strings.HasSuffix(item.Name(), doomed) {
			kept = append(kept, filepath.Join(t.dir(), item.Name()))
		}
	}
	return kept, t.dir()
}

// Undeleted lists what was to be deleted in the background at least that long ago, and is there all the same: as where find
// is missing, or something in it may not be deleted. A deletion that goes on changes the folder.
func (t Trash) Undeleted(age time.Duration) []string {
	var left []string
	content, _ := os.ReadDir(t.dir())
	for _, item := range content {
		info, err := item.Info()
		if err == nil && strings.HasSuffix(item.Name(), doomed) && time.Since(info.ModTime()) >= age {
			left = append(left, filepath.Join(t.dir(), item.Name()))
		}
	}
	return left
}

// take moves path, with every byte in it, into the trash folder, or into
// ".paw-trash" beside it when that is on another file system, and returns where
// it is now. A path that is not there is no error and gives "". One with a file
// system mounted in it is refused with *ConflictError.
func (t Trash) take(path, name string) (string, error) {
	if !exists(path) {
		return "", nil
	}
	if err := refuseMounts(path); err != nil {
		return "", err
	}
	moved, err := moveInto(t.dir(), path, name)
	if errors.Is(err, syscall.EXDEV) {
		moved, err = moveInto(filepath.Join(filepath.Dir(path), ".paw-trash"), path, name)
	}
	return moved, err
}

func moveInto(dir, path, name string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	stamp := time.Now().UTC().Format("20060102T150405Z")
	for n := 1; n <= 1000; n++ {
		target := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", stamp, name, n))
		// A folder of its own for each thing: of two racers only one can make it.
		if err := os.Mkdir(target, 0o777); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return "", err
		}
		inside := filepath.Join(target, filepath.Base(path))
		if err := os.Rename(path, inside); err != nil {
			os.Remove(target)
			return "", err
		}
		return inside, nil
	}
	return "", fmt.Errorf("%s: no free name in %s", path, dir)
}

// setAside moves a worktree directory and its registration into the trash
// folder. The directory goes first: a registration without a directory is
// repaired, a directory without a registration would look foreign.
func (t Trash) setAside(e Entry, path string) error {
	name := filepath.Base(e.AdminDir)
	if path != "" && (pointsTo(filepath.Join(path, ".git"), e.AdminDir) || barelyBegun(path)) {
		if _, err := t.take(path, name); err != nil {
			return err
		}
	}
	_, err := t.take(e.AdminDir, name+"-registration")
	return err
}

// barelyBegun reports whether nothing but an empty .git file is in a folder:
// git makes it, then writes it, and may be killed in between.
func barelyBegun(path string) bool {
	content, err := os.ReadDir(path)
	if err != nil || len(content) != 1 || content[0].Name() != ".git" {
		return false
	}
	info, err := content[0].Info()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// doomed ends the name of a trash folder that may be deleted: all that is in it
// was found to be in commits that refs keep.
const doomed = ".delete"

// emptying is the shell script that deletes its arguments. Folders without write
// permission, as in Go's module cache, get it first; files do not: one that is a
// hard link would change its mode in the store that it comes from, too. Nothing on
// another file system is touched.
const emptying = `find "$@" -xdev -type d ! -perm -u=rwx -exec chmod u+rwx {} \; 2>/dev/null; exec find "$@" -xdev -depth -delete`

// doom deletes what take has moved to these places, in the background. One that
// cannot be marked for it stays.
func (t Trash) doom(ctx context.Context, moved ...string) {
	dirs := []string{t.dir()}
	for _, path := range moved {
		if item := filepath.Dir(path); path != "" && os.Rename(item, item+doomed) == nil {
			dirs = append(dirs, filepath.Dir(item))
		}
	}
	if t.doomed != nil {
		*t.doomed = append(*t.doomed, dirs...)
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
