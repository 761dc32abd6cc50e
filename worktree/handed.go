package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// HandedFiles makes a commit of the commit from plus uncommitted files of a checkout: those that
// equal an earlier snapshot of the checkout, at paths where from and to differ. A move to the
// commit to may overwrite these files (Move.FilesFrom). The result is "" for no such file.
func (m Moves) HandedFiles(ctx context.Context, c gitdir.Checkout, from, to, snapshot string) (string, error) {
	if !disk.Exists(filepath.Join(c.AdminDir, "index")) {
		return "", nil
	}
	changes, err := m.handed(ctx, from, to, snapshot)
	if err != nil || len(changes) == 0 {
		return "", err
	}
	dir, err := newScratch(c.AdminDir)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l, err := m.snapshots.lookAt(ctx, c.Path, c.AdminDir, dir)
	if err != nil {
		return "", err
	}
	defer l.drop()
	changes = slices.DeleteFunc(changes, func(c change) bool {
		return !slices.Contains(l.names, c.name) && !slices.Contains(l.indexed, c.name)
	})
	may, err := asHanded(ctx, l, changes)
	changes = slices.DeleteFunc(changes, func(c change) bool { return !may[c.name] })
	if err != nil || len(changes) == 0 {
		return "", err
	}
	tree, err := m.objects.treeOf(ctx, from, indexInfo(changes, change.entry))
	if err != nil {
		return "", err
	}
	return m.objects.Commit(ctx, NewCommit{Tree: tree, Parents: []string{from}, Message: "paw: not committed in " + c.Path + "\n", Own: true})
}

// handed lists the paths at which from and to differ and snapshot differs from both its HEAD and
// from.
func (m Moves) handed(ctx context.Context, from, to, snapshot string) ([]change, error) {
	between, err := m.objects.changesBetween(ctx, from, to)
	if err != nil {
		return nil, err
	}
	head, err := m.objects.SnapshotHead(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	taken, err := m.objects.changesBetween(ctx, head, snapshot)
	if err != nil {
		return nil, err
	}
	was := map[string]change{}
	for _, c := range between {
		was[c.name] = c
	}
	var found []change
	for _, c := range taken {
		before, moves := was[c.name]
		if !moves || c.gitlink() || before.gitlink() || before.oldEntry() == c.entry() {
			continue
		}
		c.oldMode, c.oldID = before.oldMode, before.oldID
		found = append(found, c)
	}
	return found, nil
}

// mayGo reports which files of a checkout equal filesFrom, among those where filesFrom differs from
// from. The others are returned as obstacles.
func (m Moves) mayGo(ctx context.Context, l *look, from, filesFrom string) (may map[string]bool, found []Obstacle, err error) {
	if filesFrom == "" {
		return nil, nil, nil
	}
	changes, err := m.objects.changesBetween(ctx, from, filesFrom)
	if err != nil {
		return nil, nil, err
	}
	if may, err = asHanded(ctx, l, changes); err != nil {
		return nil, nil, err
	}
	for _, c := range changes {
		if !may[c.name] {
			found, may[c.name] = append(found, Obstacle{c.name, "changed"}), true
		}
	}
	return may, found, nil
}

// asHanded reports for each change whether the file already has the new content, as git compares
// files, while the index entry is the old or the new one, so that nothing else is staged.
func asHanded(ctx context.Context, l *look, changes []change) (map[string]bool, error) {
	same := map[string]bool{}
	if len(changes) == 0 {
		return same, nil
	}
	entries, err := l.real.entries(ctx)
	if err != nil {
		return nil, err
	}
	staged := map[string]string{}
	for _, e := range entries {
		staged[e.name] = entryOf(e.mode, e.id)
	}
	differs, err := differing(ctx, l, changes)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		have := staged[c.name]
		there := !differs[c.name]
		if c.entry() == "" {
			info, err := os.Lstat(filepath.Join(l.top, filepath.FromSlash(c.name)))
			there = err != nil || info.IsDir()
		}
		same[c.name] = there && (have == c.oldEntry() || have == c.entry())
	}
	return same, nil
}

// differing returns the paths whose files do not have the new content of their change yet.
func differing(ctx context.Context, l *look, changes []change) (map[string]bool, error) {
	file := newScratchIndex(filepath.Dir(l.scratch))
	defer dropIndex(file)
	if err := disk.CopyFile(l.real.file, file); err != nil {
		return nil, err
	}
	repo := l.withIndex(file)
	if _, err := repo.Input(ctx, indexInfo(changes, change.entry), git.Quietly("update-index", "-z", "--index-info")...); err != nil {
		return nil, err
	}
	return changedFiles(ctx, repo)
}
