package startplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// Agents combines the items of --cli and --branches to agents: one branch each, "" for paw's default,
// and unique names.
// taken has names that are in use, with words about the user of each.
func Agents(items, branches []string, set clis.Set, taken map[string]string) ([]session.Agent, error) {
	agents, err := parseItems(items, set)
	if err != nil {
		return nil, err
	}
	switch {
	case len(branches) == 0:
	case len(agents) == 1 && agents[0].Name == "":
		cli := agents[0].CLI
		agents = agents[:0]
		for _, branch := range branches {
			agents = append(agents, session.Agent{CLI: cli, Branch: branch})
		}
	case len(agents) == len(branches):
		for i := range agents {
			agents[i].Branch = branches[i]
		}
	default:
		e := errs.New(errs.Usage, "--branches: %d branches for %d CLIs (give one CLI for all of them, or one for each)", len(branches), len(agents))
		e.Instead = errs.Instead{Of: strings.Join(items, ","), By: strings.Join(asMany(items, len(branches)), ",")}
		return nil, e
	}
	used := map[string]bool{}
	for name := range taken {
		used[name] = true
	}
	for _, a := range agents {
		if a.Name == "" {
			continue
		}
		if used[a.Name] {
			for _, other := range agents {
				used[other.Name] = true
			}
			free := firstFree(a.Name, used)
			e := errs.New(errs.Usage, "agent %s: the name is taken%s; %s is free", a.Name, taken[a.Name], free)
			e.Instead = errs.Instead{Of: a.Name + "=" + a.CLI, By: free + "=" + a.CLI}
			return nil, e
		}
		used[a.Name] = true
	}
	for i := range agents {
		if agents[i].Name != "" {
			continue
		}
		name := agents[i].CLI
		if agents[i].Branch != "" {
			if fromBranch := session.NameFrom(ownPart(agents[i].Branch)); fromBranch != "" {
				name = fromBranch
			}
		}
		agents[i].Name = firstFree(name, used)
		used[agents[i].Name] = true
	}
	return agents, nil
}

// ownPart returns the distinguishing part of a branch name: paw's own branches are all named
// paw/SESSION/AGENT.
func ownPart(branch string) string {
	if rest, own := strings.CutPrefix(branch, app.BranchPrefix); own {
		if _, agent, both := strings.Cut(rest, "/"); both {
			return agent
		}
	}
	return branch
}

// parseItems parses items of the form "[AGENT=]CLI"; every CLI must be known.
func parseItems(items []string, set clis.Set) ([]session.Agent, error) {
	var agents []session.Agent
	for _, item := range items {
		item = strings.TrimSpace(item)
		name, cli, named := strings.Cut(item, "=")
		if !named {
			name, cli = "", name
		}
		if cli == "" {
			return nil, errs.New(errs.Usage, "--cli %q: no CLI named", item).Hint("paw clis")
		}
		if named {
			if err := session.ValidateName("agent", name); err != nil {
				return nil, errs.New(errs.Usage, "%w", err)
			}
		}
		if _, ok := set.Get(cli); !ok {
			e := errs.New(errs.Usage, "%s: unknown CLI", cli)
			if nearest := set.Nearest(cli); nearest != "" {
				e.Message += fmt.Sprintf(" (did you mean %s?)", nearest)
				e.Instead = errs.Instead{Of: item, By: strings.TrimSuffix(item, cli) + nearest}
			}
			return nil, e.Hint("paw clis")
		}
		agents = append(agents, session.Agent{Name: name, CLI: cli})
	}
	if len(agents) == 0 {
		return nil, errs.New(errs.Usage, "--cli: no CLI named").Hint("paw clis")
	}
	return agents, nil
}

// firstFree returns name, or the first free one of name_2, name_3, ...
func firstFree(name string, used map[string]bool) string {
	if !used[name] {
		return name
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s_%d", name, n); !used[next] {
			return next
		}
	}
}

// RequireCLIs refuses CLIs that are not installed, and a prompt that one of them cannot take.
func RequireCLIs(h *app.App, agents []session.Agent, prompt string) error {
	for _, a := range agents {
		cli, _ := h.CLIs.Get(a.CLI)
		executable, err := h.Program(cli)
		if err != nil {
			return err
		}
		if prompt == "" {
			continue
		}
		if _, err := cli.Launch(h.Specs().Draft(cli, executable, prompt)); err != nil && !launch.CanOnlyBeSent(err) {
			return errs.New(errs.Usage, "%w", err)
		}
	}
	return nil
}

// asMany are so many items of --cli: without the last ones, or with the CLI of the last one again.
func asMany(items []string, number int) []string {
	items = strings.Split(strings.Join(items, ","), ",")
	_, last, named := strings.Cut(items[len(items)-1], "=")
	if !named {
		last = items[len(items)-1]
	}
	for len(items) < number {
		items = append(items, last)
	}
	return items[:number]
}

// Session drafts a new session, and refuses what cannot work.
func Session(ctx context.Context, h *app.App, repository gitdir.Repository, asked, base string, handed *Origin, agents []session.Agent) (*Addition, error) {
	if err := refuseElsewhere(repository); err != nil {
		return nil, err
	}
	m := h.Manager(repository)
	if handed != nil {
		base = handed.commit
	}
	base, err := baseCommit(ctx, m, base)
	if err != nil {
		return nil, err
	}
	name, err := Name(ctx, h, repository, asked, agents)
	if err != nil {
		return nil, err
	}
	socket, err := h.TmuxFor(nil).SocketPath()
	if err != nil {
		return nil, err
	}
	root := app.RootIn(repository)
	a := &Addition{Manager: m, Handed: handed, Draft: session.Session{
		Name: name, ID: uuid.NewString(), RepoPath: root, GitCommonDir: repository.CommonDir, ProjectName: filepath.Base(root),
		CreatedAt: h.Now().UTC(), Status: session.StatusActive, BaseCommit: base,
		Tmux: session.Tmux{Session: "paw-" + name, Socket: socket}, Target: m.Refs().CurrentBranch(),
	}}
	if err := addAgents(ctx, h, &a.Draft, m, agents, base); err != nil {
		return nil, err
	}
	if handed != nil {
		if err := startFrom(ctx, h, &a.Draft, a, handed, Options{}); err != nil {
			return nil, err
		}
	}
	if err := a.complete(ctx, h); err != nil {
		if now, nameErr := Name(ctx, h, repository, asked, agents); nameErr == nil && now != name {
			return nil, fmt.Errorf("%w: %w", turns.ErrNameTaken, err) // another session took the name after it was chosen
		}
		return nil, err
	}
	return a, nil
}

// refuseElsewhere refuses a repository whose core.worktree is a folder from which git does not find
// the repository.
func refuseElsewhere(repository gitdir.Repository) error {
	if repository.Path == "" {
		return nil
	}
	if there, err := gitdir.Discover(repository.Path); err == nil && there.CommonDir == repository.CommonDir {
		return nil
	}
	return errs.New(errs.Refused, "%s: core.worktree is %s, from where git does not find this repository", repository.CommonDir, repository.Path).
		Hint("echo %s > %s", errs.Quote("gitdir: "+repository.CommonDir), errs.Quote(filepath.Join(repository.Path, ".git")))
}

// addAgents adds the planned agents to the record, in the phase creating.
func addAgents(ctx context.Context, h *app.App, s *session.Session, m *worktree.Manager, agents []session.Agent, base string) error {
	agents = slices.Clone(agents) // the copy gets branches of this session
	named := make([]string, 0, len(agents))
	for i, a := range agents {
		if a.Branch == "" {
			agents[i].Branch = app.AutomaticBranch(s.Name, a.Name)
		}
		named = append(named, agents[i].Branch)
	}
	existing, err := m.Refs().Branches(ctx, named)
	if err != nil {
		return err
	}
	target := ""
	if s.Target != "" {
		if target, err = m.Refs().BranchTip(ctx, s.Target); err != nil {
			return err
		}
	}
	for _, a := range agents {
		if err := session.ValidTurnSession(s.Name, a.Name); err != nil {
			return errs.New(errs.Usage, "%w", err)
		}
		path, err := h.Config.WorktreePath(s.RepoPath, s.Name, a.Name)
		if err != nil {
			return errs.New(errs.Usage, "%w", err)
		}
		cli, _ := h.CLIs.Get(a.CLI)
		w := session.Agent{
			Name: a.Name, CLI: a.CLI, Branch: a.Branch, WorktreePath: path, TurnSession: s.Name + "_" + a.Name,
			Phase: session.PhaseCreating, BaseCommit: base, CreatedAt: h.Now().UTC(), Environment: h.Specs().Remembered(cli),
		}
		if oid, ok := existing[a.Branch]; ok {
			w.BaseCommit = oid
		} else {
			w.BranchCreated = true
		}
		w.BaseOnTarget = w.BaseCommit == target
		w.AddConversation(cli.NewConversation())
		s.Enlist(w)
	}
	return nil
}

// withoutCommit returns the refusal of a checkout, or of a bare repository, whose HEAD has no
// commit. The hint commits all existing files, but not in the user's home directory.
func withoutCommit(ctx context.Context, m *worktree.Manager) error {
	place := cmp.Or(m.Repository.Worktree, m.Repository.Path)
	if place == "" {
		return bareWithoutCommit(ctx, m)
	}
	e := errs.New(errs.Failed, "%s: the repository has no commit yet", place)
	files, err := os.ReadDir(place)
	if home, homeErr := os.UserHomeDir(); homeErr == nil && home == place || err == nil && len(files) <= 1 { // only .git
		return e.Hint("git commit --allow-empty -m 'first commit'")
	}
	return e.Hint("git add . && git commit -m 'first commit'")
}

// bareWithoutCommit is withoutCommit for a bare repository: often its HEAD names a branch that
// nobody has pushed.
func bareWithoutCommit(ctx context.Context, m *worktree.Manager) error {
	branches, err := m.Refs().List(ctx, "refs/heads/")
	if err != nil {
		return err
	}
	if len(branches) == 0 {
		return errs.New(errs.Failed, "%s: the repository has no commit yet", m.Repository.CommonDir).
			Hint(`git update-ref HEAD "$(git commit-tree -m 'first commit' "$(git hash-object -w -t tree /dev/null)")"`)
	}
	e := errs.New(errs.Failed, "%s: HEAD is on %s, which has no commit", m.Repository.CommonDir, m.Refs().CurrentBranch())
	for _, branch := range slices.Sorted(maps.Keys(branches)) {
		e = e.Hint("git symbolic-ref HEAD %s", errs.Quote(branch))
	}
	e.Hints = e.Hints[:min(len(e.Hints), 3)]
	return e
}

// baseCommit returns the commit from which new branches start.
func baseCommit(ctx context.Context, m *worktree.Manager, ref string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	base, err := m.Refs().Head(ctx, ref)
	switch {
	case errors.Is(err, refs.ErrNoCommits):
		return "", withoutCommit(ctx, m)
	case err != nil && ref != "HEAD":
		return "", errs.New(errs.Usage, "--base %w", err).Hint("git branch --all")
	}
	return base, err
}
