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
)

// Checks are worktrees without a branch, in which states are looked at.
type Checks struct {
	Repository Repository

	m Manager
}

// Place makes the worktree of p, without a branch, for states to be looked at in; the branch of p is only used on the
// way. One that is there already is taken, where it is now. The path is "" with an error.
func (c Checks) Place(ctx context.Context, p Plan) (path string, err error) {
	e, err := c.m.Registry().find(ctx, madeBy(p.Owner))
	if err != nil {
		return "", err
	}
	if e != nil {
		p.Path = e.Path
	}
	if !c.madeWhole(p.Path) {
		if err := c.dropBranch(ctx, p.Branch, p.Base); err != nil {
			return "", err
		}
		if _, err := c.m.Create(ctx, []Plan{p}, nil); err != nil {
			return "", err
		}
	}
	admin, err := verified(p.Path, c.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(checkMark(admin), nil, 0o666); err != nil {
		return "", err
	}
	head := Entry{AdminDir: admin}
	head.readHead(&refReader{commonDir: c.Repository.CommonDir})
	if head.Branch == p.Branch && head.Head != "" {
		if err := in(p.Path).Run(ctx, quietly("update-ref", "--no-deref", "HEAD", head.Head)...); err != nil {
			return "", err
		}
	}
	return p.Path, c.dropBranch(ctx, p.Branch, "")
}

// madeWhole reports whether a worktree was made at path, and completely.
func (c Checks) madeWhole(path string) bool {
	admin, err := verified(path, c.Repository.CommonDir, "")
	return err == nil && exists(filledMark(admin))
}

// dropBranch deletes the branch that a worktree without one was made from, unless it is at the commit keep.
func (c Checks) dropBranch(ctx context.Context, branch, keep string) error {
	tip, err := c.m.Refs().BranchTip(ctx, branch)
	if err != nil || tip == "" || tip == keep {
		return err
	}
	return c.m.Refs().Delete(ctx, map[string]string{"refs/heads/" + branch: tip})
}

// End ends what a check has left running at path whose paw was killed, and returns the processes. The caller has the place alone.
func (c Checks) End(ctx context.Context, path string) []int { return endLeftRunning(ctx, path) }

// Show makes the files of a worktree without a branch those of a commit, and HEAD that commit, as Rewind does. What
// somebody left there, in no commit, is kept under rescueRef, "" when there was nothing. What the last check left, and nobody
// has touched since, is kept under leftRef in place of what an earlier check left.
func (c Checks) Show(ctx context.Context, path, commit, rescueRef, leftRef string) (kept string, err error) {
	to, err := c.m.Objects().goal(ctx, commit)
	if err != nil {
		return "", err
	}
	if _, err := c.m.Moves().EndMoveIn(ctx, path); err != nil { // nobody works there: a check that was killed is over
		return "", err
	}
	untouched := leftByCheck(path)
	to.head = to.commit
	done, err := c.m.Moves().rewindTo(ctx, path, to, RewindOptions{Rescue: rescueRef, Command: "paw check"})
	if err != nil || done.Commit != done.HeadBefore && !untouched {
		return done.Ref, err
	}
	if done.Commit != done.HeadBefore {
		if err := c.m.Refs().Set(ctx, leftRef, done.Commit); err != nil {
			return done.Ref, err
		}
	}
	if done.Ref == "" { // nothing has changed
		return "", nil
	}
	return "", c.m.Refs().Delete(ctx, map[string]string{done.Ref: done.Commit})
}

// Run runs a command of the project through sh in the worktree at path, with its output going to out, and without the
// variables of git.LocalEnv. It leaves no process of its group behind when ctx ends. It returns the exit code of the command,
// -1 when it was ended by a signal.
func (c Checks) Run(ctx context.Context, path, command string, out io.Writer, env []string) (code int, err error) {
	if err := Verify(path, c.Repository.CommonDir, ""); err != nil {
		return 0, err
	}
	running, err := markRunning(path)
	if err != nil {
		return 0, err
	}
	err = runCommand(ctx, path, command, out, append(slices.Clip(env), checkVariable+path))
	_ = os.Remove(running)
	markLeft(path)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// markRunning notes that a check runs in its worktree, and returns the note.
func markRunning(path string) (mark string, err error) {
	admin, err := readGitFile(filepath.Join(path, ".git"))
	if err != nil {
		return "", err
	}
	return runningMark(admin), os.WriteFile(runningMark(admin), nil, 0o666)
}

// markLeft notes what a check left in its worktree. Without the note it counts as somebody's work.
func markLeft(path string) {
	admin, err := readGitFile(filepath.Join(path, ".git"))
	if err != nil {
		return
	}
	if left, err := imprint(path); err == nil {
		_ = os.WriteFile(leftMark(admin), left[:], 0o666)
	}
}

// leftByCheck reports whether all that a worktree holds is as the last check left it.
func leftByCheck(path string) bool {
	admin, err := readGitFile(filepath.Join(path, ".git"))
	if err != nil {
		return false
	}
	noted, err := os.ReadFile(leftMark(admin))
	if err != nil {
		return false
	}
	now, err := imprint(path)
	return err == nil && bytes.Equal(noted, now[:])
}

// PlaceOf is the worktree that Place made for an owner, "" for none.
func (c Checks) PlaceOf(ctx context.Context, owner string) (string, error) {
	e, err := c.m.Registry().find(ctx, madeBy(owner))
	if e == nil || !hasGitFile(e.Path) {
		return "", err
	}
	return e.Path, nil
}

// madeBy returns a test for the worktree that was made for an owner.
func madeBy(owner string) func(Entry) bool {
	return func(e Entry) bool { return e.Locked && e.LockReason == owner && e.Path != "" }
}

// lockFiles lists the names of files, in any folder, that say which dependencies are to be installed.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
	"Cargo.lock", "go.sum", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements*.txt",
	"Gemfile.lock", "composer.lock", "mix.lock",
}

// setUpFormat changes when a worktree that an older paw has set up has to be set up again.
const setUpFormat = "1"

// Fingerprint tells what is copied, linked and run from anything else.
func (s Setup) Fingerprint() string {
	text, _ := json.Marshal([]any{setUpFormat, s.Copy, s.Link, s.Command, s.For})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// SetUp is SetUp for a check worktree that has the files of a commit. It does nothing where the last set-up ended
// well, was the same one, and had the same lock files. The error is that of the set-up command: what is checked then would
// not be what lands.
func (c Checks) SetUp(ctx context.Context, path, commit string, s Setup) ([]Problem, error) {
	admin, err := verified(path, c.Repository.CommonDir, "")
	if err != nil {
		return nil, err
	}
	state, err := c.setUpState(ctx, commit, s)
	if err != nil || readLine(setUpMark(admin)) == state {
		return nil, err
	}
	if err := removeFile(setUpMark(admin)); err != nil {
		return nil, err
	}
	if err := c.dropLinks(ctx, path); err != nil {
		return nil, err
	}
	problems := c.m.SetUp(ctx, path, s)
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
func (c Checks) setUpState(ctx context.Context, commit string, s Setup) (string, error) {
	out, err := c.m.Objects().home().Output(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
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
func (c Checks) dropLinks(ctx context.Context, path string) error {
	links, err := c.m.LinksToMain(ctx, path)
	for _, l := range links {
		if err := removeFile(filepath.Join(path, l.Name)); err != nil {
			return err
		}
	}
	return err
}
