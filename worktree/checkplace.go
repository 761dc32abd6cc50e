package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// CheckPlace makes the worktree of p, without a branch, for states to be looked at in; the branch of p is only used on the
// way. One that is there already is taken, where it is now. The path is "" with an error.
func (m Manager) CheckPlace(ctx context.Context, p Plan) (path string, err error) {
	e, err := m.find(ctx, madeBy(p.Owner))
	if err != nil {
		return "", err
	}
	if e != nil {
		p.Path = e.Path
	}
	if !m.madeWhole(p.Path) {
		if err := m.dropBranch(ctx, p.Branch, p.Base); err != nil {
			return "", err
		}
		if _, err := m.Create(ctx, []Plan{p}, nil); err != nil {
			return "", err
		}
	}
	admin, err := verified(p.Path, m.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(checkMark(admin), nil, 0o666); err != nil {
		return "", err
	}
	head := Entry{AdminDir: admin}
	head.readHead(&refReader{commonDir: m.Repository.CommonDir})
	if head.Branch == p.Branch && head.Head != "" {
		if err := in(p.Path).Run(ctx, quietly("update-ref", "--no-deref", "HEAD", head.Head)...); err != nil {
			return "", err
		}
	}
	return p.Path, m.dropBranch(ctx, p.Branch, "")
}

// madeWhole reports whether a worktree was made at path, and completely.
func (m Manager) madeWhole(path string) bool {
	admin, err := verified(path, m.Repository.CommonDir, "")
	return err == nil && exists(filledMark(admin))
}

// dropBranch deletes the branch that a worktree without one was made from, unless it is at the commit keep.
func (m Manager) dropBranch(ctx context.Context, branch, keep string) error {
	tip, err := m.BranchTip(ctx, branch)
	if err != nil || tip == "" || tip == keep {
		return err
	}
	return m.DeleteRefs(ctx, map[string]string{"refs/heads/" + branch: tip})
}

// EndChecks ends what a check has left running at path whose paw was killed, and returns the processes. The caller has the place alone.
func (m Manager) EndChecks(ctx context.Context, path string) []int { return endLeftRunning(ctx, path) }

// ShowState makes the files of a worktree without a branch those of a commit, and HEAD that commit, as Rewind does. What
// somebody left there, in no commit, is kept under rescueRef, "" when there was nothing. What the last check left, and nobody
// has touched since, is kept under leftRef in place of what an earlier check left.
func (m Manager) ShowState(ctx context.Context, path, commit, rescueRef, leftRef string) (kept string, err error) {
	to, err := m.goal(ctx, commit)
	if err != nil {
		return "", err
	}
	if _, err := m.EndMoveIn(ctx, path); err != nil { // nobody works there: a check that was killed is over
		return "", err
	}
	untouched := leftByCheck(path)
	to.head = to.commit
	done, err := m.rewindTo(ctx, path, to, RewindOptions{Rescue: rescueRef, Command: "paw check"})
	if err != nil || done.Commit != done.HeadBefore && !untouched {
		return done.Ref, err
	}
	if done.Commit != done.HeadBefore {
		if err := m.SetRef(ctx, leftRef, done.Commit); err != nil {
			return done.Ref, err
		}
	}
	if done.Ref == "" { // nothing has changed
		return "", nil
	}
	return "", m.DeleteRefs(ctx, map[string]string{done.Ref: done.Commit})
}

// RunCheck runs a command of the project through sh in the worktree at path, with its output going to out, and without the
// variables of git.LocalEnv. It leaves no process of its group behind when ctx ends. It returns the exit code of the command,
// -1 when it was ended by a signal.
func (m Manager) RunCheck(ctx context.Context, path, command string, out io.Writer, env []string) (code int, err error) {
	if err := Verify(path, m.Repository.CommonDir, ""); err != nil {
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

// CheckPlaceOf is the worktree that CheckPlace made for an owner, "" for none.
func (m Manager) CheckPlaceOf(ctx context.Context, owner string) (string, error) {
	e, err := m.find(ctx, madeBy(owner))
	if e == nil || !hasGitFile(e.Path) {
		return "", err
	}
	return e.Path, nil
}

// madeBy is what is true of the worktree that was made for an owner.
func madeBy(owner string) func(Entry) bool {
	return func(e Entry) bool { return e.Locked && e.LockReason == owner && e.Path != "" }
}
