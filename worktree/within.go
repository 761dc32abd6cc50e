package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// ErrOverBudget means that saving a worktree would take more than it may. What
// was recorded so far is known to the next try.
var ErrOverBudget = errors.New("over the budget of a snapshot")

// Budget bounds a snapshot. Zero is no bound.
type Budget struct {
	Time  time.Duration
	Bytes int64 // of untracked and changed files that no earlier snapshot has saved
}

// SnapshotWithin is Snapshot for the begin and end of a turn, where somebody
// waits: within a budget, and with a scratch index kept in scratchDir, one folder
// for each worktree and outside of it, so that content is read once only. It
// starts two git processes when the worktree is clean, five when not. Without a
// ref none is made, and the commit lasts until git collects garbage.
//
// Over the budget it fails with ErrOverBudget, leaves no process behind and
// returns HEAD as the commit. ErrRefTaken when there is such a ref.
func (m Manager) SnapshotWithin(ctx context.Context, path, ref, message, scratchDir string, b Budget) (Snapshot, error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return Snapshot{}, err
	}
	if err := os.MkdirAll(scratchDir, 0o700); err != nil {
		return Snapshot{}, err
	}
	sweepScratch(scratchDir)
	within, cancel := b.start(ctx)
	defer cancel()
	for try := 1; ; try++ {
		shot, err := m.snapshotWithin(ctx, within, path, admin, ref, message, scratchDir, b.Bytes)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w: not done in %s", path, ErrOverBudget, b.Time)
		}
		if errors.Is(err, ErrOverBudget) {
			return Snapshot{Commit: m.headOf(admin)}, err
		}
		if err == nil || try == snapshotTries || ctx.Err() != nil || !vanished(err) {
			return shot, err
		}
		os.Remove(keptIndex(scratchDir)) // it may name objects that are gone
	}
}

func (b Budget) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, b.Time)
}

// snapshotWithin makes one attempt. Only what takes time with the number and size
// of the files is cut off by the budget.
func (m Manager) snapshotWithin(ctx, within context.Context, path, admin, ref, message, dir string, limit int64) (Snapshot, error) {
	l, err := m.lookAt(within, path, admin, dir)
	if errors.Is(err, errForeignIndex) {
		return m.snapshotOnce(within, path, admin, ref, message)
	}
	if err != nil {
		return Snapshot{}, err
	}
	defer l.drop()
	shot, err := m.shoot(ctx, within, l, admin, message, dir, limit)
	if err != nil || ref == "" {
		return shot, err
	}
	shot.Ref = ref
	return shot, m.keep(ctx, shot.Commit, ref)
}

// shoot makes the commit for what l has seen.
func (m Manager) shoot(ctx, within context.Context, l *look, admin, message, dir string, limit int64) (Snapshot, error) {
	shot := Snapshot{Commit: l.head}
	submodules, err := l.changedSubmodules(within)
	if err != nil {
		return Snapshot{}, err
	}
	shot.NotSaved = sorted(l.embedded, submodules)
	if !l.dirty && l.head != "" {
		return shot, nil
	}
	notSaved, err := l.record(within, m.keptFor(admin, dir, l.real.idSize), limit)
	if errors.Is(err, ErrOverBudget) {
		return shot, err
	}
	defer l.keepScratch(dir)
	if err != nil {
		return Snapshot{}, err
	}
	shot.NotSaved = sorted(shot.NotSaved, notSaved)
	tree, err := l.repo.Line(within, quietly("write-tree")...)
	if err != nil {
		return Snapshot{}, err
	}
	if same, err := l.isHead(ctx, tree); same || err != nil {
		return shot, err
	}
	shot.Commit, err = l.commit(ctx, tree, message)
	return shot, err
}

// isHead reports whether all changes have been taken back.
func (l *look) isHead(ctx context.Context, tree string) (bool, error) {
	if l.certain || l.head == "" {
		return false, nil
	}
	old, err := l.repo.Line(ctx, "rev-parse", "--verify", l.head+"^{tree}")
	return old == tree, err
}

func (l *look) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree}
	if l.head != "" {
		args = append(args, "-p", l.head)
	}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	out, err := l.repo.WithEnv(snapshotAuthor...).Input(ctx, []byte(message), args...)
	return strings.TrimSpace(out), err
}
