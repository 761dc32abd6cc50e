package worktree

import (
	"context"
	"slices"
	"strings"

	"paw/worktree/git"
)

// Remote is a repository that branches are pushed to.
type Remote struct {
	Name    string
	Address string // that pushes go to
}

// RemotesFor are where a branch is pushed to, and where the branch is that it is meant for: by git's own settings, else the only
// remote, else origin. A name of "" means that there is none.
func (m Manager) RemotesFor(ctx context.Context, branch, target string) (push, base Remote, err error) {
	out, err := m.home().Output(ctx, "config", "-z", "--get-regexp", `^(remote\..*\.(url|pushurl)|remote\.pushdefault|branch\..*\.(remote|pushremote))$`)
	if err != nil && git.ExitCode(err) != 1 {
		return push, base, err
	}
	set, names := map[string]string{}, []string{}
	for _, item := range nulSeparated(out) {
		key, value, _ := strings.Cut(item, "\n")
		set[key] = value
		name, isURL := strings.CutSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if isURL && strings.HasPrefix(key, "remote.") {
			names = sorted(names, []string{name})
		}
	}
	push.Name = firstRemote(names, set["branch."+branch+".pushremote"], set["remote.pushdefault"], set["branch."+branch+".remote"], set["branch."+target+".remote"])
	base.Name = firstRemote(names, set["branch."+target+".remote"], push.Name)
	for _, r := range []*Remote{&push, &base} {
		if r.Name == "" {
			continue
		}
		if r.Address, err = m.home().Line(ctx, "remote", "get-url", "--push", "--", r.Name); err != nil {
			return push, base, err
		}
	}
	return push, base, nil
}

// firstRemote is the first of the wanted remotes that exists; where none does the only one, or origin.
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
