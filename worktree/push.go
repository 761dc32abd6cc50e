package worktree

import (
	"context"
	"errors"
	"strings"

	"paw/worktree/git"
)

// Terminal is where git may ask the user for a password, and shows how far it is.
type Terminal = git.Terminal

// ErrPushRejected means that the branch of the remote is not what the caller has seen. Nothing was pushed.
var ErrPushRejected = errors.New("the branch has moved there")

// RemoteHas looks what branches of a remote are at, by its address; one that is not there is not in the result. head is the
// branch that the remote has as its own, "" where it does not say.
func (m Manager) RemoteHas(ctx context.Context, t Terminal, address string, branches ...string) (found map[string]string, head string, err error) {
	args := []string{"ls-remote", "-q", "--symref", "--", address, "HEAD"}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	out, err := m.home().Talk(ctx, t, args...)
	if err != nil {
		return nil, "", err
	}
	found = map[string]string{}
	for line := range strings.Lines(out) {
		value, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
		if target, isHead := strings.CutPrefix(value, "ref: refs/heads/"); isHead && ref == "HEAD" {
			head = target
		} else if isBranch && isOID(value) {
			found[branch] = value
		}
	}
	return found, head, nil
}

// Push makes a branch of a remote a commit, whatever the branch of that name is here, and pushes nothing else. there is what the
// branch has to be at, "" for none: else it is ErrPushRejected. The user's hook for pushes runs.
func (m Manager) Push(ctx context.Context, t Terminal, remote, branch, commit, there string) error {
	ref := "refs/heads/" + branch
	out, err := m.home().Talk(ctx, t, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--force-with-lease="+ref+":"+there, "--", remote, commit+":"+ref)
	if err != nil && strings.Contains(out, "[rejected]") {
		return ErrPushRejected
	}
	return err
}
