package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
)

// lockFiles are the names of the files, in any folder, that say which dependencies are to be installed.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
	"Cargo.lock", "go.sum", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements*.txt",
	"Gemfile.lock", "composer.lock", "mix.lock",
}

// setUpFormat changes when a worktree that an older paw has set up has to be set up again.
const setUpFormat = "1"

// Fingerprint tells what is copied, linked and run from anything else.
func (s Setup) Fingerprint() string {
	text, _ := json.Marshal([]any{setUpFormat, s.Copy, s.Link, s.Command})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// SetUpCheckPlace is SetUp for a check worktree that has the files of a commit. It does nothing where the last set-up ended
// well, was the same one, and had the same lock files. The error is that of the set-up command: what is checked then would
// not be what lands.
func (m Manager) SetUpCheckPlace(ctx context.Context, path, commit string, s Setup) ([]Problem, error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return nil, err
	}
	state, err := m.setUpState(ctx, commit, s)
	if err != nil || readLine(setUpMark(admin)) == state {
		return nil, err
	}
	if err := removeFile(setUpMark(admin)); err != nil {
		return nil, err
	}
	if err := m.dropLinks(ctx, path); err != nil {
		return nil, err
	}
	problems := m.SetUp(ctx, path, s)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if i := slices.IndexFunc(problems, func(p Problem) bool { return p.Err != nil }); i >= 0 {
		err := problems[i].Err
		return slices.Delete(problems, i, i+1), &SetUpError{Command: s.Command, Err: err}
	}
	return problems, disk.ReplaceSoon(setUpMark(admin), []byte(state+"\n"))
}

// SetUpError is the failure of a set-up command.
type SetUpError struct {
	Command string
	Err     error
}

func (e *SetUpError) Error() string {
	return fmt.Sprintf("the set-up failed: %s: %v", e.Command, e.Err)
}
func (e *SetUpError) Unwrap() error { return e.Err }

// setUpState tells apart the states of a check worktree after a set-up: what was to be done, and the lock files of a commit.
func (m Manager) setUpState(ctx context.Context, commit string, s Setup) (string, error) {
	out, err := m.home().Output(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, line := range nulSeparated(out) { // MODE TYPE ID TAB PATH
		_, name, _ := strings.Cut(line, "\t")
		if slices.ContainsFunc(lockFiles, func(pattern string) bool { ok, _ := path.Match(pattern, path.Base(name)); return ok }) {
			fmt.Fprintf(sum, "%s\x00", line)
		}
	}
	return s.Fingerprint() + " " + hex.EncodeToString(sum.Sum(nil)), nil
}

// dropLinks removes the links into the main checkout that an older paw, or somebody, has made in a check worktree.
func (m Manager) dropLinks(ctx context.Context, path string) error {
	links, err := m.LinksToMain(ctx, path)
	for _, l := range links {
		if err := removeFile(filepath.Join(path, l.Name)); err != nil {
			return err
		}
	}
	return err
}
