package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// Ended is how a move ended that was cut short.
type Ended struct {
	Moved bool   // the branch is at To, or has gone on from there
	Note  string // what the user has to look at, "" for nothing
}

// FinishMove ends a move that was cut short at any point: where the branch is says whether it took place, and its checkout
// is brought to agree with that. A file that is neither as in one of the two commits nor a piece of that was written by
// somebody else since: it stays as it is, and git status shows it. It may be repeated.
func (m Manager) FinishMove(ctx context.Context, g *Moving, v Move) (Ended, error) {
	tip, err := m.Tip(ctx, v.Branch)
	if err != nil {
		return Ended{}, err
	}
	ended := Ended{Moved: tip == v.To}
	if tip != v.To && tip != v.From && tip != "" {
		if ended.Moved, err = m.contains(ctx, tip, v.To); err != nil {
			return Ended{}, err
		}
	}
	if v.Checkout == nil || !exists(v.Checkout.AdminDir) {
		return ended, nil
	}
	lock := filepath.Join(v.Checkout.AdminDir, "index.lock")
	ours := strings.HasPrefix(readLine(lock), moveMark)
	left, _ := filepath.Glob(filepath.Join(v.Checkout.AdminDir, moveScratch+"*"))
	for _, dir := range left {
		os.RemoveAll(dir)
	}
	switch at, err := m.CheckoutOf(ctx, v.Branch); {
	case err != nil, at == nil, !samePath(at.Path, v.Checkout.Path), tip != v.To && tip != v.From:
		ended.Note = "its checkout " + v.Checkout.Path + " was changed since, and is left as it is"
	case tip == v.From && !ours: // the files were not touched
	default:
		if ended.Note, err = m.settleLocked(ctx, g, v, tip, ours); err != nil {
			return ended, err
		}
	}
	if ours {
		os.Remove(lock)
	}
	return ended, nil
}

// settleLocked is settle with the lock of the index, which a move has left behind when ours is true.
func (m Manager) settleLocked(ctx context.Context, g *Moving, v Move, goal string, ours bool) (note string, err error) {
	if !ours {
		unlock, err := lockIndex(ctx, *v.Checkout, v)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	err = m.settle(context.WithoutCancel(ctx), g, v, goal)
	if errors.Is(err, errUsedSince) {
		return "its checkout " + v.Checkout.Path + " was changed since, and is left as it is", nil
	}
	return "", err
}

// errUsedSince means that somebody has staged paths of a move after it was cut short.
var errUsedSince = errors.New("staged since")

// settle brings the paths of a move, in the files and in the index, to one of its two commits, which is goal. The index is
// either as before or as after a move: with anything else in it, nothing is done.
func (m Manager) settle(ctx context.Context, g *Moving, v Move, goal string) error {
	from := v.From
	if goal == v.From {
		from = v.To
	}
	changes, err := changesBetween(ctx, m.home(), from, goal)
	if err != nil || len(changes) == 0 {
		return err
	}
	dir, err := os.MkdirTemp(v.Checkout.AdminDir, moveScratch)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := &settling{dir: dir, checkout: *v.Checkout, from: from, goal: goal, changes: changes, held: g.file}
	staged, err := s.staged(ctx)
	if err != nil || staged && goal == v.To { // the index comes last, so the files are there
		return err
	}
	write, remove, err := s.rewritten(ctx)
	if err != nil || staged && len(write)+len(remove) == 0 {
		return err
	}
	if err := s.put(ctx, write, remove); err != nil {
		return err
	}
	return os.Rename(s.index, filepath.Join(v.Checkout.AdminDir, "index"))
}

// settling is one settle on its way.
type settling struct {
	dir        string
	checkout   Checkout
	from, goal string
	changes    []change
	held       *os.File

	index string // copy that becomes the real one
	repo  git.Repo
}

// staged reports whether the index has all paths as the goal has them. errUsedSince when it has some in another way.
func (s *settling) staged(ctx context.Context) (bool, error) {
	var err error
	if s.index, s.repo, err = scratchOf(s.checkout, s.dir); err != nil {
		return false, err
	}
	s.repo = s.repo.WithFile(s.held)
	out, err := s.repo.Output(ctx, quietly("ls-files", "--stage", "-z")...)
	if err != nil {
		return false, err
	}
	have := map[string]string{}
	for _, line := range nulSeparated(out) {
		info, name, _ := strings.Cut(line, "\t")
		have[name] = info
	}
	before, after := true, true
	for _, c := range s.changes {
		before = before && have[c.name] == c.oldEntry()
		after = after && have[c.name] == c.entry()
	}
	if !before && !after {
		return false, errUsedSince
	}
	return after, nil
}

// entry is how git lists the path in the index once it has changed, and oldEntry before: "" where it is not there.
func (c change) entry() string    { return entryOf(c.mode, c.id) }
func (c change) oldEntry() string { return entryOf(c.oldMode, c.oldID) }

func entryOf(mode, id string) string {
	if strings.Trim(mode, "0") == "" {
		return ""
	}
	return mode + " " + id + " 0"
}

// put writes and removes files, and makes the index that of the goal.
func (s *settling) put(ctx context.Context, write, remove []string) error {
	for _, name := range remove {
		if err := removeFile(filepath.Join(s.checkout.Path, name)); err != nil {
			return err
		}
		s.dropFolders(name)
	}
	if err := s.stage(ctx, s.repo, change.entry); err != nil {
		return err
	}
	if len(write) > 0 {
		if _, err := s.repo.Input(ctx, nulTerminated(write), quietly("checkout-index", "-f", "-u", "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return refresh(ctx, s.repo)
}

// dropFolders removes the folders above a file that have nothing in them any more.
func (s *settling) dropFolders(name string) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if os.Remove(filepath.Join(s.checkout.Path, dir)) != nil {
			return
		}
	}
}

// rewritten are the paths whose files a move has written, in whole or in part, or not yet: those that the goal has are to
// be written, the others to be removed. What is somebody's own is in neither.
func (s *settling) rewritten(ctx context.Context) (write, remove []string, err error) {
	asGoal, err := s.asIn(ctx, s.goal, change.entry)
	if err != nil {
		return nil, nil, err
	}
	asOther, err := s.asIn(ctx, s.from, change.oldEntry)
	if err != nil {
		return nil, nil, err
	}
	gone := map[string]bool{}
	for _, goes := range []bool{true, false} { // what goes makes room for what comes
		for _, c := range s.changes {
			if c.gone != goes || asGoal[c.name] {
				continue
			}
			mine, err := s.mine(ctx, c, asOther, gone)
			switch {
			case err != nil:
				return nil, nil, err
			case mine && goes:
				remove, gone[c.name] = append(remove, c.name), true
			case mine:
				write = append(write, c.name)
			}
		}
	}
	return write, remove, nil
}

// asIn reports which paths have the file that one of the commits has, as git compares them: with the user's conversions.
func (s *settling) asIn(ctx context.Context, commit string, entry func(change) string) (map[string]bool, error) {
	file := filepath.Join(s.dir, "compare")
	defer dropIndex(file)
	if err := copyFile(s.index, file); err != nil {
		return nil, err
	}
	repo := in(s.checkout.Path).WithFile(s.held).WithEnv("GIT_INDEX_FILE=" + file)
	if err := s.stage(ctx, repo, entry); err != nil {
		return nil, err
	}
	if err := refresh(ctx, repo); err != nil {
		return nil, err
	}
	out, err := repo.Output(ctx, quietly("diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")...)
	if err != nil {
		return nil, err
	}
	differs := map[string]bool{}
	for _, name := range nulSeparated(out) {
		differs[name] = true
	}
	same := map[string]bool{}
	for _, c := range s.changes {
		if entry(c) == "" {
			same[c.name] = !exists(filepath.Join(s.checkout.Path, c.name))
			continue
		}
		same[c.name] = !differs[c.name]
	}
	return same, nil
}

// stage makes the entries of the paths of a move what entry says, in the index of repo.
func (s *settling) stage(ctx context.Context, repo git.Repo, entry func(change) string) error {
	var input strings.Builder
	for _, pass := range []bool{false, true} { // a folder can only be put where a file was when that is gone
		for _, c := range s.changes {
			what := entry(c)
			switch {
			case what == "" && !pass:
				input.WriteString("0 " + strings.Repeat("0", len(c.id)) + "\t" + c.name + "\x00")
			case what != "" && pass:
				input.WriteString(what + "\t" + c.name + "\x00")
			}
		}
	}
	_, err := repo.Input(ctx, []byte(input.String()), quietly("update-index", "-z", "--index-info")...)
	return err
}

// mine reports whether nothing of somebody's own is at a path once gone are gone: the file of the other commit is there,
// or none, or the begin of what one of the two has, because git was cut short while it wrote.
func (s *settling) mine(ctx context.Context, c change, asOther, gone map[string]bool) (bool, error) {
	at, err := obstacleAt(s.checkout.Path, c.name, gone)
	if at == "" || err != nil {
		return err == nil, err
	}
	path := filepath.Join(s.checkout.Path, c.name)
	info, err := os.Lstat(path)
	switch {
	case at != c.name || err != nil:
		return false, nil //nolint:nilerr // something else is there
	case asOther[c.name]:
		return true, nil
	case !info.Mode().IsRegular():
		return false, nil
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	for commit, mode := range map[string]string{s.goal: c.mode, s.from: c.oldMode} {
		if !strings.HasPrefix(mode, "100") {
			continue
		}
		whole, err := in(s.checkout.Path).Output(ctx, "cat-file", "--filters", commit+":"+c.name)
		if err != nil {
			return false, err
		}
		if strings.HasPrefix(whole, string(have)) {
			return true, nil
		}
	}
	return false, nil
}
