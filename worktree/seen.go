package worktree

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"strings"
)

// Seen is what a look at a worktree has found, and by what a later one can tell that nothing has changed since: git need
// not look at all files a second time then.
type Seen struct {
	Dirt
	files  [sha256.Size]byte // of the directory
	lasts  bool              // Dirt follows from files, gitDir and head alone
	gitDir [sha256.Size]byte // of the worktree's own
	head   string
}

// See looks for everything that would be lost with the worktree of p. Files that are in the commit p.Saved as they are would
// not be. The user's settings that make git list less are overruled. What cannot be determined is an error.
func (m Manager) See(ctx context.Context, p Plan) (Seen, error) {
	path := p.Path
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return Seen{}, err
	}
	s := Seen{head: m.headOf(admin)}
	if s.files, err = imprint(path); err != nil {
		return Seen{}, err
	}
	if s.gitDir, err = imprint(admin); err != nil {
		return Seen{}, err
	}
	var compared bool
	if s.Dirt, compared, err = m.inspect(ctx, path); err != nil {
		return Seen{}, err
	}
	compared = m.forgive(ctx, p, &s.Dirt) || compared
	onBranch := strings.HasPrefix(readLine(filepath.Join(admin, "HEAD")), "ref:")
	s.lasts = s.Clean() && len(s.Aside) == 0 && !compared && onBranch && s.head != ""
	return s, nil
}

// sameGitDir reports whether index, HEAD and whatever else belongs to the worktree at path alone are as they were seen, and
// whether that is enough to say so.
func (m Manager) sameGitDir(path string, s Seen) bool {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil || !s.lasts || m.headOf(admin) != s.head {
		return false
	}
	now, err := imprint(admin)
	return err == nil && now == s.gitDir
}
