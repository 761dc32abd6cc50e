package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/config/lazyregexp"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// Remote is a repository that branches are pushed to.
type Remote struct {
	Name    string
	Address string // URL for pushes
}

// Remotes reads and uses the remotes of a repository.
type Remotes struct {
	objects  *objects.Store
	settings func(context.Context) (Settings, error)
}

// For returns the remote that a branch is pushed to, and the one that has its target: by git's own
// settings, else the only remote, else origin. Name is "" for none, of the n that there are.
func (remotes *Remotes) For(ctx context.Context, branch, target string) (push, base Remote, n int, err error) {
	out, err := remotes.objects.Home().Output(ctx, "config", "-z", "--get-regexp", `^(remote\..*\.(url|pushurl)|remote\.pushdefault|branch\..*\.(remote|pushremote))$`)
	if err != nil && git.ExitCode(err) != 1 {
		return push, base, 0, err
	}
	set, names := map[string]string{}, []string{}
	for _, item := range git.NulSeparated(out) {
		key, value, _ := strings.Cut(item, "\n")
		set[key] = value
		name, isURL := strings.CutSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if isURL && strings.HasPrefix(key, "remote.") {
			names = disk.SortedPaths(names, []string{name})
		}
	}
	push.Name = firstRemote(names, set["branch."+branch+".pushremote"], set["remote.pushdefault"], set["branch."+branch+".remote"], set["branch."+target+".remote"])
	base.Name = firstRemote(names, set["branch."+target+".remote"], push.Name)
	for _, r := range []*Remote{&push, &base} {
		if r.Name == "" {
			continue
		}
		if r.Address, err = remotes.objects.Home().Line(ctx, "remote", "get-url", "--push", "--", r.Name); err != nil {
			return push, base, 0, err
		}
	}
	return push, base, len(names), nil
}

// Upstream returns the remote and the branch there to which a plain git push pushes a branch; Name
// is "" for none.
func (remotes *Remotes) Upstream(ctx context.Context, branch string) (remote Remote, there string, err error) {
	out, err := remotes.objects.Home().Output(ctx, "for-each-ref", "--format=%(upstream:remotename)%00%(upstream:remoteref)", "refs/heads/"+branch)
	if err != nil {
		return remote, "", err
	}
	name, ref, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\x00")
	there, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if name == "" || !isBranch {
		return remote, "", nil
	}
	remote.Name = name
	remote.Address, err = remotes.objects.Home().Line(ctx, "remote", "get-url", "--push", "--", name)
	return remote, there, err
}

// firstRemote returns the first of the wanted remotes that exists, else the only one, else origin,
// else "".
func firstRemote(names []string, wanted ...string) string {
	if len(names) == 1 {
		wanted = append(wanted, names[0])
	}
	for _, name := range append(wanted, "origin") {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// Terminal holds the streams and the environment of a command in which git may ask the user for a
// password, and print its progress.
type Terminal = git.Terminal

// ErrPushRejected says that the remote's branch is not at the commit that the caller has seen.
// Nothing was pushed.
var ErrPushRejected = errors.New("the branch has moved there")

// Has returns the commits of branches of a remote, given by its address, without those that do not
// exist. head is the remote's default branch, "" if the remote does not say.
func (remotes *Remotes) Has(ctx context.Context, t Terminal, address string, branches ...string) (found map[string]string, head string, err error) {
	args := []string{"ls-remote", "-q", "--symref", "--", address, "HEAD"}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	out, err := remotes.objects.Home().Talk(ctx, t, args...)
	if err != nil {
		return nil, "", err
	}
	found = map[string]string{}
	for line := range strings.Lines(out) {
		value, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
		if target, isHead := strings.CutPrefix(value, "ref: refs/heads/"); isHead && ref == "HEAD" {
			head = target
		} else if isBranch && gitdir.IsOID(value) {
			found[branch] = value
		}
	}
	return found, head, nil
}

// Fetch fetches the commit of a remote's ref, with everything it needs, and changes no ref.
func (remotes *Remotes) Fetch(ctx context.Context, t Terminal, remote, ref string) error {
	_, err := remotes.objects.Home().Talk(ctx, t, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no", "--refmap=", "--", remote, ref)
	return err
}

// FetchRefs fetches refs of another repository by refspecs. program is used in place of ssh, as
// git's GIT_SSH_COMMAND; name is the host it is called with. The other side is not trusted: each
// object is checked, and the other side cannot make git fetch from elsewhere.
func (remotes *Remotes) FetchRefs(ctx context.Context, env []string, program, name string, refspecs []string) error {
	t := Terminal{Env: append(slices.Clone(env), "GIT_SSH_COMMAND="+program, "GIT_SSH_VARIANT=ssh")}
	args := []string{
		"-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true", "-c", "protocol.version=2", "-c", "transfer.bundleURI=false", "-c", "fetch.uriProtocols=",
		"fetch", "-q", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--refmap=", "--", "ssh://" + name + "/",
	}
	_, err := remotes.objects.Home().Talk(ctx, t, append(args, refspecs...)...)
	return err
}

// Serve answers a fetch of the repository over standard streams, with the version of git's protocol
// that GIT_PROTOCOL names.
func (remotes *Remotes) Serve(ctx context.Context, protocol string, in io.Reader, out io.Writer) error {
	repo := remotes.objects.Home().WithEnv("GIT_PROTOCOL=" + protocol)
	return repo.Stream(ctx, in, out, "-c", "uploadpack.hideRefs=!refs/paw", "upload-pack", remotes.objects.Repository.CommonDir)
}

// ErrPushNoBranch says that a remote could not make a branch, as beside one whose name is the folder of the other.
var ErrPushNoBranch = errors.New("it cannot have a branch of this name")

// notMade matches what git push --porcelain prints for a branch that a remote could not make.
var notMade = lazyregexp.New(`\[remote rejected\].*(failed to update ref|cannot lock ref|directory file conflict)`)

// Push sets a branch of a remote to a commit, whatever the local branch of that name is, and pushes
// nothing else. If the remote's branch is not at there ("" for missing), the error is
// ErrPushRejected. The user's pre-push hook runs in the worktree dir, "" for the main checkout.
func (remotes *Remotes) Push(ctx context.Context, t Terminal, dir, remote, branch, commit, there string) error {
	ref, from := "refs/heads/"+branch, remotes.objects.Home()
	if dir != "" {
		from = git.In(dir)
	}
	out, err := from.Talk(ctx, t, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--force-with-lease="+ref+":"+there, "--", remote, commit+":"+ref)
	if err != nil && strings.Contains(out, "[rejected]") {
		return ErrPushRejected
	}
	if err != nil && notMade().MatchString(out) {
		return fmt.Errorf("%w: %w", ErrPushNoBranch, err)
	}
	return err
}

// excludeDecoration is git's setting for refs that git log does not show as decoration.
const excludeDecoration = "log.excludeDecoration"

// Decorated returns which of these patterns the user has not put into log.excludeDecoration: git log shows their refs beside commits.
func (remotes *Remotes) Decorated(ctx context.Context, patterns ...string) (shown []string, err error) {
	settings, err := remotes.settings(ctx)
	hidden := settings[strings.ToLower(excludeDecoration)]
	return slices.DeleteFunc(slices.Clone(patterns), func(pattern string) bool { return slices.Contains(hidden, pattern) }), err
}

// Undecorate makes git log hide the refs of patterns, in this repository.
func (remotes *Remotes) Undecorate(ctx context.Context, patterns []string) error {
	for _, pattern := range patterns {
		if err := remotes.objects.Home().Run(ctx, "config", "--add", excludeDecoration, pattern); err != nil {
			return err
		}
	}
	return nil
}
