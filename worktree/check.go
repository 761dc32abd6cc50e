package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Checks manages worktrees without a branch, in which states are checked.
type Checks struct {
	Repository gitdir.Repository

	m *Manager
}

// Place makes the worktree of p for checks; p has no branch. An existing worktree is used, wherever it is
// now. With an error the path is "".
func (c Checks) Place(ctx context.Context, p Plan) (path string, err error) {
	e, err := c.m.Registry().find(ctx, madeBy(p.Owner))
	if err != nil {
		return "", err
	}
	if e != nil {
		p.Path = e.Path
	}
	if admin, err := gitdir.Linked(p.Path, c.Repository.CommonDir, ""); err != nil || !disk.Exists(gitdir.FilledMark(admin)) {
		if _, err := c.m.Create(ctx, []Plan{p}, nil); err != nil {
			return "", err
		}
	}
	admin, err := gitdir.Linked(p.Path, c.Repository.CommonDir, "")
	if err == nil && !disk.Exists(checkMark(admin)) {
		err = os.WriteFile(checkMark(admin), nil, 0o666)
	}
	if err != nil {
		return "", err
	}
	return p.Path, nil
}

// Show puts a check worktree to a commit, files and HEAD, like Rewind. Uncommitted files and commits
// of anybody else are kept under rescueRef, and the result is that ref; "" if there were none. Files that
// the last check left, untouched since, are kept under leftRef, in place of those of an earlier check.
func (c Checks) Show(ctx context.Context, path, commit, rescueRef, leftRef string) (kept string, err error) {
	if _, err := c.m.Moves().EndMoveIn(ctx, path); err != nil { // Nobody works here: a killed check is over.
		return "", err
	}
	admin, err := gitdir.Linked(path, c.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	untouched, noted := leftByCheck(path, admin), gitdir.Line(checkMark(admin))
	done, err := c.m.Moves().Rewind(ctx, path, commit, RewindOptions{Rescue: rescueRef, Command: "paw check", Exactly: true})
	if err != nil {
		return done.Ref, err
	}
	if err := disk.ReplaceSoon(checkMark(admin), []byte(commit+"\n")); err != nil {
		return done.Ref, err
	}
	if noted != "" && noted != done.HeadBefore || done.Commit != done.HeadBefore && !untouched {
		return done.Ref, nil
	}
	if done.Commit != done.HeadBefore {
		if err := c.m.Refs().Set(ctx, leftRef, done.Commit); err != nil {
			return done.Ref, err
		}
	}
	if done.Ref == "" { // Nothing has changed.
		return "", nil
	}
	return "", c.m.Refs().Delete(ctx, map[string]string{done.Ref: done.Commit})
}

// Run runs a command of the project with sh in a check worktree, with output to out, and without
// the variables that git.Scrub removes. When ctx ends, all processes of the command's group are
// killed. Run returns the exit code, -1 after a signal.
func (c Checks) Run(ctx context.Context, path, command string, out io.Writer, env []string) (code int, err error) {
	if err := gitdir.Verify(path, c.Repository.CommonDir, ""); err != nil {
		return 0, err
	}
	admin, err := gitdir.Target(filepath.Join(path, ".git"))
	if err != nil {
		return 0, err
	}
	err = runCommand(ctx, path, command, out, env, nil)
	if left, err := imprint(path); err == nil { // without the mark the content counts as somebody's work
		_ = os.WriteFile(leftMark(admin), left[:], 0o666)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// leftByCheck reports whether a worktree's content is unchanged since the last check.
func leftByCheck(path, admin string) bool {
	noted, err := os.ReadFile(leftMark(admin))
	now, nowErr := imprint(path)
	return errors.Join(err, nowErr) == nil && bytes.Equal(noted, now[:])
}

// PlaceOf returns the path of the worktree that Place made for an owner, "" for none.
func (c Checks) PlaceOf(ctx context.Context, owner string) (string, error) {
	e, err := c.m.Registry().find(ctx, madeBy(owner))
	if e == nil || !hasGitFile(e.Path) {
		return "", err
	}
	return e.Path, nil
}

// madeBy returns a filter for the worktree that was made for an owner.
func madeBy(owner string) func(Entry) bool {
	return func(e Entry) bool { return e.Locked && e.LockReason == owner && e.Path != "" }
}

// lockFiles lists names of files, in any folder, that fix the dependencies to install.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
	"Cargo.lock", "go.sum", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements*.txt",
	"Gemfile.lock", "composer.lock", "mix.lock",
}

// Fingerprint returns a hash of what a set-up copies, links and runs.
func (s Setup) Fingerprint() string {
	text, _ := json.Marshal([]any{s.Copy, s.Link, s.Command, s.For})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// SetUp sets up a check worktree that has a commit's files, like Setups.SetUp. SetUp does nothing
// if the last set-up succeeded and had the same settings and lock files. SetUp returns the error of
// the set-up command: the check would not test what lands.
func (c Checks) SetUp(ctx context.Context, path, commit string, s Setup) ([]Problem, error) {
	admin, err := gitdir.Linked(path, c.Repository.CommonDir, "")
	if err != nil {
		return nil, err
	}
	state, err := c.setUpState(ctx, commit, s)
	if err != nil || gitdir.Line(setUpMark(admin)) == state {
		return nil, err
	}
	if err := disk.RemoveFile(setUpMark(admin)); err != nil {
		return nil, err
	}
	problems := c.m.Setups().SetUp(ctx, path, s)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if i := slices.IndexFunc(problems, func(p Problem) bool { return p.Err != nil }); i >= 0 {
		err := problems[i].Err
		return slices.Delete(problems, i, i+1), &SetUpError{Command: s.Command, Err: err}
	}
	return problems, disk.ReplaceSoon(setUpMark(admin), []byte(state+"\n"))
}

// SetUpError says that a set-up command failed.
type SetUpError struct {
	Command string
	Err     error
}

func (e *SetUpError) Error() string {
	return fmt.Sprintf("the set-up failed: %s: %v", e.Command, e.Err)
}
func (e *SetUpError) Unwrap() error { return e.Err }

// setUpState returns a text that identifies a set-up: its fingerprint and the commit's lock files.
func (c Checks) setUpState(ctx context.Context, commit string, s Setup) (string, error) {
	out, err := c.m.Objects().Home().Output(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, line := range git.NulSeparated(out) { // MODE TYPE ID TAB PATH
		_, name, _ := strings.Cut(line, "\t")
		if slices.ContainsFunc(lockFiles, func(pattern string) bool { ok, _ := path.Match(pattern, path.Base(name)); return ok }) {
			fmt.Fprintf(sum, "%s\x00", line)
		}
	}
	return s.Fingerprint() + " " + hex.EncodeToString(sum.Sum(nil)), nil
}

// Checks returns access to the worktrees in which checks run.
func (m *Manager) Checks() Checks { return Checks{m.Repository, m} }
