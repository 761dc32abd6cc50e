package worktree

import (
	"context"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// filesAs reports at which of the changed paths below top the file is the one that entry returns, as
// git compares files: with the user's conversions. index and dir are those of indexWith.
func filesAs(ctx context.Context, repo git.Repo, index, dir, top string, changes []objects.Change, entry func(objects.Change) string) (map[string]bool, error) {
	file, repo, err := indexWith(ctx, repo, index, dir, changes, entry)
	if err != nil {
		return nil, err
	}
	defer snapshot.DropIndex(file)
	if err := snapshot.Refresh(ctx, repo); err != nil {
		return nil, err
	}
	var differ string
	err = git.Unasked(func(options []string) (err error) {
		differ, err = repo.Output(ctx, git.Quietly(append(options, "diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")...)...)
		return err
	})
	same := map[string]bool{}
	for _, c := range changes {
		same[c.Name] = true
		if entry(c) == "" { // what is behind a link is no file there
			at, err := obstacleAt(top, c.Name, nil)
			if err != nil {
				return nil, err
			}
			same[c.Name] = at != c.Name
		}
	}
	for _, name := range git.NulSeparated(differ) {
		same[name] = false
	}
	return same, err
}

// indexWith copies an index, which may be missing, to a scratch file in dir in which the changed paths
// have the entries that entry returns, without bits. indexWith returns git with that file.
func indexWith(ctx context.Context, repo git.Repo, index, dir string, changes []objects.Change, entry func(objects.Change) string) (file string, _ git.Repo, err error) {
	file = snapshot.NewScratchIndex(dir)
	if disk.Exists(index) {
		if err := disk.CopyFile(index, file); err != nil {
			return "", repo, err
		}
	}
	repo = repo.WithEnv("GIT_INDEX_FILE=" + file)
	_, err = repo.Input(ctx, indexInfo(changes, entry), git.Quietly("update-index", "-z", "--index-info")...)
	return file, repo, err
}

// indexInfo returns an input for git update-index --index-info that gives paths the entries that
// entry returns, without bits.
func indexInfo(changes []objects.Change, entry func(objects.Change) string) []byte {
	var input strings.Builder
	for _, pass := range []bool{false, true} { // A folder can replace a file only after the file's entry is removed.
		for _, c := range changes {
			what := entry(c)
			switch {
			case !pass: // Every entry is removed first: a replaced one would keep its bits.
				input.WriteString("0 " + strings.Repeat("0", len(c.ID)) + "\t" + c.Name + "\x00")
			case what != "":
				input.WriteString(what + "\t" + c.Name + "\x00")
			}
		}
	}
	return []byte(input.String())
}
