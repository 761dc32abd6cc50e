package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// scratch is a private copy of a worktree's index, so that looking at all files
// changes nothing of the real one and works while somebody holds its lock.
type scratch struct {
	repo    git.Repo
	path    string
	entries []indexEntry
}

// quiet are settings under which git neither runs the user's hooks for the
// scratch index, nor trusts what a watcher or cache says of the files, nor
// writes a part of the index beside the real one.
var quiet = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false",
	"-c", "diff.orderFile=/dev/null", // one that is missing makes git fail
}

func quietly(args ...string) []string { return append(append([]string{}, quiet...), args...) }

// newScratch copies the index of the worktree at path, whose git directory is
// admin, and clears the bits that hide changes of files that are there. The
// caller removes it with drop.
func newScratch(ctx context.Context, path, admin string) (*scratch, error) {
	file, err := os.CreateTemp(admin, "paw-scratch-")
	if err != nil {
		return nil, err
	}
	s := &scratch{path: file.Name(), repo: in(path).WithEnv("GIT_INDEX_FILE=" + file.Name())}
	if err := copyIndex(filepath.Join(admin, "index"), file); err != nil {
		s.drop()
		return nil, err
	}
	if err := s.show(ctx, path); err != nil {
		s.drop()
		return nil, err
	}
	return s, nil
}

func (s *scratch) drop() {
	os.Remove(s.path)
	os.Remove(s.path + ".lock")
}

// copyIndex keeps the time of the index: git looks into a file whose time is not
// older than the index, so with a newer one it would miss an edit that came in
// the same instant as the last `git add` and left the size as it was.
func copyIndex(index string, to *os.File) error {
	defer to.Close()
	from, err := os.Open(index)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(to.Name()) // git takes an empty file for a broken index
	}
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return os.Chtimes(to.Name(), info.ModTime(), info.ModTime())
}

// show lists the index and clears the hiding bits. Files that a sparse checkout
// left out are not there and stay hidden: they are not deleted.
func (s *scratch) show(ctx context.Context, top string) error {
	var err error
	if s.entries, err = s.list(ctx); err != nil {
		return err
	}
	var assumed, skipped []string
	for _, e := range s.entries {
		if e.skipped && exists(filepath.Join(top, e.name)) {
			skipped = append(skipped, e.name)
		}
		if e.assumed {
			assumed = append(assumed, e.name)
		}
	}
	if err := s.clear(ctx, "--no-assume-unchanged", assumed); err != nil {
		return err
	}
	return s.clear(ctx, "--no-skip-worktree", skipped)
}

func (s *scratch) list(ctx context.Context) ([]indexEntry, error) {
	if entries, err := readIndex(s.path); !errors.Is(err, errForeignIndex) {
		return entries, err
	}
	out, err := s.repo.Output(ctx, quietly("ls-files", "--stage", "-v", "-z")...)
	return parseIndexList(out), err
}

func (s *scratch) clear(ctx context.Context, bit string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := s.repo.Input(ctx, []byte(strings.Join(names, "\x00")+"\x00"), quietly("update-index", bit, "-z", "--stdin")...)
	return err
}

// gitlinks are the submodules in the index as it was copied.
func (s *scratch) gitlinks() map[string]bool {
	links := map[string]bool{}
	for _, e := range s.entries {
		if e.gitlink {
			links[e.name] = true
		}
	}
	return links
}

const modeGitlink = "160000"
