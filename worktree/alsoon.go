package worktree

import (
	"context"
	"strings"
)

// AlsoOn is another branch than that one, of this repository or of a remote, or a tag, that has a commit; "" when there is
// none. Tags whose names begin with leaveOut do not count.
func (m Manager) AlsoOn(ctx context.Context, commit, branch, leaveOut string) (ref string, err error) {
	out, err := m.home().Output(ctx, "for-each-ref", "--contains="+commit, "--format=%(refname)", "refs/heads/", "refs/remotes/", "refs/tags/")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		ref := strings.TrimSpace(line)
		if ref != "refs/heads/"+branch && !strings.HasPrefix(ref, "refs/tags/"+leaveOut) {
			return ref, nil
		}
	}
	return "", nil
}
