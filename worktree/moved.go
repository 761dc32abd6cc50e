package worktree

import (
	"context"
	"os"
	"path/filepath"
)

// Moved finds worktrees that were made before the repository was moved to where
// it is now: the registrations with the owner and the path of a plan came along,
// which no other repository has. The result is where each is, by agent: at its
// old path, or at the path that along makes of it when it was moved, too. A plan
// that was not made in this repository is not in the result.
func (m Manager) Moved(ctx context.Context, plans []Plan, along func(path string) string) (map[string]string, error) {
	entries, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	byOwner := map[string]Entry{}
	for _, e := range entries[1:] {
		if e.Locked {
			byOwner[e.LockReason] = e
		}
	}
	places := map[string]string{}
	for _, p := range plans {
		e, made := byOwner[p.Owner]
		moved := along(p.Path)
		switch {
		case p.Owner == "" || !made || !samePath(e.Path, p.Path) && !samePath(e.Path, moved):
		case !exists(p.Path) && cameAlong(moved, e.AdminDir):
			places[p.Agent] = moved
		default:
			places[p.Agent] = p.Path
		}
	}
	return places, nil
}

// cameAlong tells whether the worktree at path was made with this registration,
// at its place of now or at one where nothing is any more.
func cameAlong(path, admin string) bool {
	target, err := readGitFile(filepath.Join(path, ".git"))
	return err == nil && filepath.Base(target) == filepath.Base(admin) && (!exists(target) || samePath(target, admin))
}

// Follow makes the registration of the worktree of p that of the directory at
// path, where Moved found it. Repair links the directory back.
func (m Manager) Follow(ctx context.Context, p Plan, path string) error {
	return m.eachLinked(ctx, func(e Entry) error {
		if !ownedBy(e, p) || samePath(e.Path, path) {
			return nil
		}
		temporary := filepath.Join(e.AdminDir, "paw-gitdir")
		if err := os.WriteFile(temporary, []byte(filepath.Join(path, ".git")+"\n"), 0o666); err != nil {
			return err
		}
		return os.Rename(temporary, filepath.Join(e.AdminDir, "gitdir"))
	})
}
