package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"paw/config/disk"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// HandedFiles makes a commit of the commit from plus uncommitted files of a checkout: those that
// equal an earlier snapshot of the checkout, at paths where from and to differ. A move to the
// commit to may overwrite these files (Move.FilesFrom). The result is "" for no such file.
func (m *Moves) HandedFiles(ctx context.Context, c gitdir.Checkout, from, to, earlier string) (string, error) {
	if !disk.Exists(filepath.Join(c.AdminDir, "index")) {
		return "", nil
	}
	changes, err := m.handed(ctx, from, to, earlier)
	if err != nil || len(changes) == 0 {
		return "", err
	}
	l, err := m.snapshots.LookAt(ctx, c.Path, c.AdminDir, "")
	if err != nil {
		return "", err
	}
	defer l.Drop()
	changes = slices.DeleteFunc(changes, func(c objects.Change) bool {
		return !slices.Contains(l.Names, c.Name) && !slices.Contains(l.Indexed, c.Name)
	})
	may, err := asHanded(ctx, l, changes)
	changes = slices.DeleteFunc(changes, func(c objects.Change) bool { return !may[c.Name] })
	if err != nil || len(changes) == 0 {
		return "", err
	}
	tree, err := m.objects.TreeOfEntries(ctx, from, indexInfo(changes, objects.Change.Entry))
	if err != nil {
		return "", err
	}
	return m.objects.Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{from}, Message: "paw: not committed in " + c.Path + "\n", Own: true})
}

// handed lists the changes from the commit from to earlier, a snapshot, at paths where from and to differ
// and earlier differs from its HEAD.
func (m *Moves) handed(ctx context.Context, from, to, earlier string) ([]objects.Change, error) {
	head, err := m.objects.SnapshotHead(ctx, earlier)
	if err != nil {
		return nil, err
	}
	changes, err := m.objects.ChangesBetween(ctx, from, earlier)
	for _, pair := range [][2]string{{from, to}, {head, earlier}} {
		between, betweenErr := m.objects.ChangesBetween(ctx, pair[0], pair[1])
		err = errors.Join(err, betweenErr)
		files := map[string]bool{}
		for _, c := range between {
			files[c.Name] = !c.Gitlink()
		}
		changes = slices.DeleteFunc(slices.Clone(changes), func(c objects.Change) bool { return c.Gitlink() || !files[c.Name] })
	}
	return changes, err
}

// mayGo reports which files of a checkout equal filesFrom, among those where it differs from HEAD: handed. The others are returned
// as obstacles, with what is in the way of a file of to that filesFrom does not have.
func (m *Moves) mayGo(ctx context.Context, l *snapshot.Look, handed []objects.Change, filesFrom, to string) (may map[string]bool, found []Obstacle, err error) {
	if may, err = asHanded(ctx, l, handed); len(handed) == 0 || err != nil {
		return may, nil, err
	}
	for _, c := range handed {
		if !may[c.Name] {
			found, may[c.Name] = append(found, Obstacle{c.Name, "changed"}), true
		}
	}
	moves, err := m.objects.ChangesBetween(ctx, filesFrom, to)
	gone := map[string]bool{}
	for _, c := range moves {
		gone[c.Name] = c.Gone
	}
	for _, c := range moves {
		if !c.Added || !may[c.Name] || err != nil {
			continue
		}
		var at string
		if at, err = obstacleAt(l.Top, c.Name, gone); at != "" {
			found = append(found, Obstacle{at, "untracked"})
		}
	}
	return may, found, err
}

// asHanded reports for each change whether the file already has the new content, as git compares
// files, while the index entry is the old or the new one, so that nothing else is staged.
func asHanded(ctx context.Context, l *snapshot.Look, changes []objects.Change) (map[string]bool, error) {
	if len(changes) == 0 {
		return map[string]bool{}, nil
	}
	staged := map[string]string{}
	for _, e := range l.Real.Entries {
		staged[e.Name] = objects.EntryOf(e.Mode, e.ID)
	}
	same, err := filesAs(ctx, l.Repo, l.Real.File, l.Dir, l.Top, changes, objects.Change.Entry)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		have := staged[c.Name]
		same[c.Name] = same[c.Name] && (have == c.OldEntry() || have == c.Entry())
	}
	return same, nil
}
