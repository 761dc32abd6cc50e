package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Trash manages the folders for what was removed, until it is deleted.
type Trash struct {
	Repository gitdir.Repository
}

func (t Trash) dir() string { return filepath.Join(t.Repository.CommonDir, "paw", "trash") }

// Kept lists what stays in the trash folder dir until somebody deletes it: removed directories, registrations
// without a directory, and what was to be deleted in the background at least age ago, as where find is missing or
// may not delete something. A running deletion changes the folder's time.
func (t Trash) Kept(age time.Duration) (kept []string, dir string) {
	content, _ := os.ReadDir(t.dir())
	for _, item := range content {
		registration, _ := filepath.Match("*-registration-*", item.Name())
		inside, err := os.ReadDir(filepath.Join(t.dir(), item.Name()))
		cut := err == nil && len(inside) == 0 // paw was killed before it moved something there
		info, infoErr := item.Info()
		goes := infoErr != nil || strings.HasSuffix(item.Name(), doomed) && time.Since(info.ModTime()) < age
		if !registration && !cut && !goes {
			kept = append(kept, filepath.Join(t.dir(), item.Name()))
		}
	}
	return kept, t.dir()
}

// Take moves path unchanged to the trash folder, or to ".paw-trash" next to it if the trash is on
// another file system, and returns the new path; "" for a missing path. The error is a
// *ConflictError if a file system is mounted inside.
func (t Trash) Take(path, name string) (string, error) {
	if !disk.Exists(path) {
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

// moveInto moves path to a new folder in dir.
func moveInto(dir, path, name string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	target, err := os.MkdirTemp(dir, time.Now().UTC().Format("20060102T150405Z")+"-"+name+"-")
	if err != nil {
		return "", err
	}
	inside := filepath.Join(target, filepath.Base(path))
	if err := os.Rename(path, inside); err != nil {
		return "", errors.Join(err, os.Remove(target))
	}
	return inside, nil
}

// throwAway moves a worktree's directory, unless path is "", and then its registration to the trash
// folder: a registration without a directory can be repaired or removed again, while a directory
// without a registration would look foreign.
func (t Trash) throwAway(e Entry, path string) (directory, registration string, err error) {
	name := filepath.Base(e.AdminDir)
	if directory, err = t.Take(path, name); err != nil {
		return "", "", err
	}
	registration, err = t.Take(e.AdminDir, name+"-registration")
	return directory, registration, err
}

// setAside is throwAway that leaves a directory which is not the worktree of e.
func (t Trash) setAside(e Entry, path string) error {
	if path != "" && !gitdir.PointsTo(filepath.Join(path, ".git"), e.AdminDir) && !barelyBegun(path) {
		path = ""
	}
	_, _, err := t.throwAway(e, path)
	return err
}

// barelyBegun reports whether a folder holds only an empty .git file: git creates that file before
// writing it, and may be killed in between.
func barelyBegun(path string) bool {
	content, err := os.ReadDir(path)
	if err != nil || len(content) != 1 || content[0].Name() != ".git" {
		return false
	}
	info, err := content[0].Info()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// doomed is the suffix of a trash folder that may be deleted, since everything in it is in commits
// that refs keep.
const doomed = ".delete"

// emptying is the shell script that deletes its arguments. Folders without write permission, as in
// Go's module cache, are made writable first; files are not, since a hard-linked file would change
// its mode in the store that it comes from, too. Other file systems are not touched.
const emptying = `find "$@" -xdev -type d ! -perm -u=rwx -exec chmod u+rwx {} \; 2>/dev/null; exec find "$@" -xdev -depth -delete`

// doom deletes what Take has moved to these places, in the background. A folder that cannot be
// marked for deletion stays.
func (t Trash) doom(ctx context.Context, moved ...string) {
	dirs := []string{t.dir()}
	for _, path := range moved {
		if item := filepath.Dir(path); path != "" && os.Rename(item, item+doomed) == nil {
			dirs = append(dirs, filepath.Dir(item))
		}
	}
	sweep(ctx, dirs...)
}

// sweep deletes the doomed folders in these trash folders in the background, with those of an
// earlier sweep that was killed. The deletion goes on after paw has ended.
func sweep(ctx context.Context, trash ...string) {
	slices.Sort(trash)
	mounts, err := mountPoints()
	if err != nil {
		return // Without a list of mounts, a mounted file system could be emptied.
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
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"} // some systems' PATH lacks the directory of find
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = commandPatience
	if cmd.Start() == nil {
		go cmd.Wait() // reaps the child in a long-running paw
	}
}

// Trash returns access to the trash folders.
func (m *Manager) Trash() Trash { return Trash{m.Repository} }

// mountsAmong returns the mount points at or below path. Files of a mounted file system are not the
// worktree's: a rename would move them, and a deletion would delete them.
func mountsAmong(all []string, path string) []string {
	top := disk.Resolved(path)
	below := slices.DeleteFunc(slices.Clone(all), func(at string) bool { return at != top && !disk.Within(at, top) })
	slices.Sort(below)
	return slices.Compact(below)
}

// refuseMounts returns a *ConflictError if a file system is mounted in a directory.
func refuseMounts(path string) error {
	all, err := mountPoints()
	if err != nil {
		return fmt.Errorf("what is mounted below %s cannot be read: %w", path, err)
	}
	mounted := mountsAmong(all, path)
	if len(mounted) == 0 {
		return nil
	}
	return git.Conflict("", "umount "+git.Quote(mounted[0]), "%s: a file system is mounted at %s", path, mounted[0])
}

// dropFolders removes what a killed set-up has left beside a worktree that is gone, the folder of a session in which a worktree was, and the folder of the repository's worktrees
// above, if they are empty. dropFolders never removes a symlink, nor a folder anywhere else. The caller holds the repository lock.
func dropFolders(path string) {
	const ofRepository = ".paw" // ends its name
	_ = os.RemoveAll(stageOf(path))
	for dir := filepath.Dir(path); strings.HasSuffix(dir, ofRepository) || strings.HasSuffix(filepath.Dir(dir), ofRepository); dir = filepath.Dir(dir) {
		if err := unix.Rmdir(dir); err != nil && !os.IsNotExist(err) {
			return
		}
	}
}
