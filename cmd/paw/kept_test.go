package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// kept is a copy of the files of a world, by their paths.
type kept map[string]keptFile

type keptFile struct {
	mode    fs.FileMode
	content string    // of a symbolic link its target
	changed time.Time // of a regular file
}

// keep returns a copy of the world's files, for putBack.
func (w *world) keep() kept {
	w.t.Helper()
	all := kept{}
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		file := keptFile{mode: info.Mode()}
		switch {
		case file.mode.IsRegular():
			file.changed = info.ModTime()
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			file.content = string(data)
		case file.mode.Type() == fs.ModeSymlink:
			if file.content, err = os.Readlink(path); err != nil {
				return err
			}
		case !file.mode.IsDir():
			return nil // a socket
		}
		all[path] = file
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// putBack makes the world's files as they were. What has not changed is not touched, and what has
// changed keeps its inode: a live agent holds locks and writes to open files. Objects of git that
// came later stay.
func (w *world) putBack(all kept) {
	w.t.Helper()
	now := w.keep()
	for path, file := range now {
		was, there := all[path]
		if there && was.mode.Type() == file.mode.Type() || strings.Contains(path, "/.git/objects/") {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			w.t.Fatal(err)
		}
	}
	for path, file := range all {
		if is, there := now[path]; there && is == file || file.mode.IsDir() {
			continue
		}
		if err := file.write(path); err != nil {
			w.t.Fatal(err)
		}
	}
	for path, file := range all {
		if file.mode.IsDir() {
			if err := os.MkdirAll(path, file.mode.Perm()); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// differsAnyway matches what differs between two runs of one command: times, processes, random names.
var differsAnyway = regexp.MustCompile(volatile.String() + `|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|\b[0-9]{4,}\b|\b[0-9a-f]{16}\b`)

// same reports whether two copies have the same files with the same contents. What differs between any two runs
// counts as the same: times, process ids, random names. Objects of git do not count, which putBack leaves where they are, nor the
// contents of the indexes that paw keeps for its snapshots, in which the times of files stand.
func (k kept) same(other kept) bool {
	content := func(k kept) kept {
		only := kept{}
		for path, file := range k {
			if strings.Contains(path, "/.git/objects/") {
				continue
			}
			if file.changed = (time.Time{}); strings.Contains(path, "/snapshot/") {
				file.content = ""
			}
			file.content = differsAnyway.ReplaceAllString(file.content, "*")
			only[differsAnyway.ReplaceAllString(path, "*")] = file
		}
		return only
	}
	return maps.Equal(content(k), content(other))
}

// write makes the file at path, or changes it.
func (f keptFile) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if f.mode.Type() == fs.ModeSymlink {
		_ = os.Remove(path)
		return os.Symlink(f.content, path)
	}
	if err := os.WriteFile(path, []byte(f.content), f.mode.Perm()|0o200); err != nil {
		return err
	}
	if err := os.Chmod(path, f.mode.Perm()); err != nil {
		return err
	}
	return os.Chtimes(path, f.changed, f.changed)
}

// TestPutBack changes a world in all ways that putBack knows.
func TestPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.Symlink("README.md", filepath.Join(w.repo, "link")); err != nil {
		t.Fatal(err)
	}
	w.git(w.repo, "add", "-A")
	before, status := w.keep(), w.git(w.repo, "status", "--porcelain")
	for _, command := range []string{
		"rm -r sub && echo file > sub", "ln -sf sub link", "echo more >> README.md", "chmod +x README.md", "mkdir new && echo x > new/x", "git commit -qam second && git branch new",
	} {
		w.ok(w.run(w.repo, nil, "sh", "-c", command))
	}
	w.putBack(before)
	if got := w.git(w.repo, "status", "--porcelain") + w.git(w.repo, "branch"); got != status+"* main\n" {
		t.Error(got)
	}
	for path, file := range w.keep() {
		if was := before[path]; was != file && !file.mode.IsDir() && !strings.Contains(path, ".git/") {
			t.Errorf("%s: %+v, was %+v", path, file, was)
		}
	}
}
