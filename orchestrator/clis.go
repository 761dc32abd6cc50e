package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/semver"
	"golang.org/x/sync/errgroup"

	"paw/config"
	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// CLIInfo describes a CLI on this machine.
type CLIInfo struct {
	Name     string
	Path     string // path of the program, "" when the CLI is not installed
	Version  string
	Err      error        // why the version is unknown
	Standing string       // see cli.LookedAt.Standing
	Looked   cli.LookedAt // tested version, with which Standing compares
	Facts    cli.Facts

	note string // Standing in words
}

// ListCLIs returns the known CLIs: which are installed, and what paw can do with each. It asks for
// versions only if withVersions is set, since some CLIs take a second to start.
func ListCLIs(ctx context.Context, h *app.App, withVersions bool) []CLIInfo {
	names := slices.DeleteFunc(h.CLIs.Names(), func(name string) bool {
		c, _ := h.CLIs.Get(name)
		_, err := h.Program(c)
		return err != nil && c.Facts().Rare
	})
	infos := make([]CLIInfo, len(names))
	var group errgroup.Group
	group.SetLimit(4)
	for i, name := range names {
		c, _ := h.CLIs.Get(name)
		infos[i] = CLIInfo{Name: name, Facts: c.Facts(), Looked: cli.LookedAtOf(name)}
		executable, err := h.Program(c)
		if err != nil {
			if _, ok := errors.AsType[*errs.Error](err); !ok {
				infos[i].Err = err
			}
			continue
		}
		infos[i].Path = executable
		if !withVersions {
			continue
		}
		group.Go(func() error {
			infos[i].askVersion(ctx, c, h.Env)
			return nil
		})
	}
	_ = group.Wait()
	return infos
}

// CLI describes one CLI, which must be installed.
func CLI(ctx context.Context, h *app.App, name string) (CLIInfo, error) {
	known, ok := h.CLIs.Get(name)
	if !ok {
		return CLIInfo{}, errs.New(errs.Usage, "%s: unknown CLI", name).Hint("paw clis")
	}
	executable, err := h.Program(known)
	if err != nil {
		return CLIInfo{}, err
	}
	info := CLIInfo{Name: name, Path: executable, Facts: known.Facts(), Looked: cli.LookedAtOf(name)}
	info.askVersion(ctx, known, h.Env)
	return info, nil
}

// askVersion asks an installed CLI for its version, and compares it with the tested one.
func (i *CLIInfo) askVersion(ctx context.Context, c cli.CLI, env []string) {
	i.Version, i.Err = c.Version(ctx, i.Path, env)
	i.Standing, i.note = i.Looked.Standing(i.Version)
}

// VersionNote says that the installed version of the CLI was not tested, "" if it was, or is
// unknown.
func (i CLIInfo) VersionNote() string {
	if i.note == "" {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", i.Name, i.Version, i.note)
}

// Trust records commands of the repository's configuration, word for word, as trusted.
func Trust(h *app.App, commands []config.Command) error {
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return err
	}
	return h.Paths.Trust(repository.Path, commands)
}

// notes returns a function that returns notes for the user about a start. git works on them
// meanwhile: the first one needs a look at every file. With hide git log leaves the first turn tags of a repository out from
// now on.
func notes(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, handed *startplan.Origin, hide bool) (wait func() []string) {
	rest := append(branchNotes(ctx, m, s), cliNotes(h, s)...)
	if s.Target == "" {
		rest = append(rest, "no branch is checked out here, so the first landing needs --into BRANCH")
	}
	rest = append(rest, nestedNote(ctx, s)...)
	if inside, err := filepath.Rel(disk.Resolved(cmp.Or(m.Repository.Worktree, m.Repository.Path)), disk.Resolved(h.Dir)); err == nil && filepath.IsLocal(inside) && inside != "." {
		rest = append(rest, "agents begin at the top of the repository, not in "+inside)
	}
	tags, err := turns.AllTags(ctx, m) // read before the first turn tag is made
	first := err == nil && len(tags) == 0
	var uncommitted, decoration []string
	var asking sync.WaitGroup
	var second []string
	asking.Go(func() { second = opencodeNote(ctx, h, s) })
	asking.Go(func() { // one after the other: what start waits for needs the processors, too
		defer func() {
			if first {
				decoration = append(decorationNote(ctx, m, hide), versionNote(m)...)
			}
		}()
		from := cmp.Or(m.Repository.Worktree, m.Repository.Path) // new branches start from the HEAD of this worktree
		if from == "" || handed != nil || slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.Here }) {
			return
		}
		if n, err := m.Changed(ctx, from); err == nil && n > 0 {
			uncommitted = []string{uncommittedIn(from, n)}
		}
	})
	return func() []string {
		asking.Wait()
		return slices.Concat(uncommitted, handed.Told(), rest, second, decoration)
	}
}

// nestedNote tells how the worktrees stay out of git status of another checkout that is around them, as around a submodule.
func nestedNote(ctx context.Context, s *session.Session) []string {
	if len(s.Agents) == 0 {
		return nil
	}
	folder := filepath.Dir(s.Agents[0].WorktreePath)
	if above := filepath.Dir(folder); above != filepath.Dir(s.RepoPath) { // the folder of all sessions
		folder = above
	}
	around, pattern := worktree.ShownIn(ctx, folder, s.GitCommonDir)
	if pattern == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s shows in git status of %s; %s keeps it out", folder, around.Worktree,
		errs.Line("echo %s >>%s", errs.Quote(pattern), errs.Quote(filepath.Join(around.CommonDir, "info", "exclude"))))}
}

// versionNote tells how a project that takes its version from the newest tag leaves turn tags out.
func versionNote(m *worktree.Manager) []string {
	text, _ := disk.ReadFile(filepath.Join(cmp.Or(m.Repository.Worktree, m.Repository.Path), "pyproject.toml"))
	for _, tool := range []string{"setuptools_scm", "setuptools-scm", "hatch-vcs"} {
		if strings.Contains(string(text), tool) {
			return []string{tool + " would take turn tags for versions; in pyproject.toml, git_describe_command = \"git describe --dirty --tags --long --match *[0-9]* --exclude afk-*\" leaves them out"}
		}
	}
	return nil
}

// branchNotes names existing branches of an earlier session on which agents go on, instead of at
// HEAD, although the user did not name them.
func branchNotes(ctx context.Context, m *worktree.Manager, s *session.Session) []string {
	var notes []string
	for _, w := range s.Agents {
		if w.BranchCreated || w.Branch != app.AutomaticBranch(s.Name, w.Name) {
			continue
		}
		own := ""
		if head, err := m.Refs().Head(ctx, ""); err == nil {
			if work, err := m.Objects().Work(ctx, head, w.BaseCommit, "", 0); err == nil {
				own = fmt.Sprintf(" with %s of its own", errs.Counted(work.CommitCount, "commit"))
			}
		}
		notes = append(notes, fmt.Sprintf("branch %s of an earlier session exists%s, and %s goes on there", w.Branch, own, w.Name))
	}
	return notes
}

// cliNotes returns notes about CLIs and the configuration.
func cliNotes(h *app.App, s *session.Session) []string {
	var notes []string
	if note := codexNote(h, s); note != "" {
		notes = append(notes, note)
	}
	if problem := h.Config.TrustProblem; problem != nil {
		notes = append(notes, fmt.Sprintf("nothing of the repository counts as trusted: %v", problem))
	}
	var clis []string
	for _, w := range s.Agents {
		clis = append(clis, w.CLI)
	}
	if note := memoryNote(h, clis); note != "" {
		notes = append(notes, note)
	}
	env := app.Variables(h.UserEnv())
	for _, name := range slices.Sorted(maps.Keys(h.Config.Worktree.Env)) {
		if _, exported := env[name]; exported {
			notes = append(notes, fmt.Sprintf("%s of your shell does not reach the agents: worktree.env sets it", name))
		}
	}
	for _, key := range h.Config.Ignored {
		notes = append(notes, ignoredText(key))
	}
	for _, c := range h.Config.Untrusted {
		notes = append(notes, fmt.Sprintf("%s of the repository is not trusted and was left out: %s (%s)", c.Key, c.Text, errs.Line("paw config trust")))
	}
	return notes
}

// ignoredText says that a key of the repository's configuration has no effect.
func ignoredText(key string) string {
	return key + " of the repository is left out: a repository has no say in it"
}

// codexNote says that codex in this session cannot commit, "" if it can, or no agent is codex.
func codexNote(h *app.App, s *session.Session) string {
	has := slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.CLI == "codex" })
	if !has || h.Config.CLIs["codex"].GitWritable {
		return ""
	}
	return "codex cannot commit in a linked worktree unless clis.codex.git_writable = true opens the git directories to its sandbox"
}

// opencodeNote says what paw does not see of an opencode that does not load paw's plugin, as from version 2 on.
func opencodeNote(ctx context.Context, h *app.App, s *session.Session) []string {
	at := slices.IndexFunc(s.Agents, func(w session.Agent) bool { return w.CLI == "opencode" })
	if at < 0 {
		return nil
	}
	c, executable, err := h.ProgramOf(&s.Agents[at])
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cli.VersionPatience)
	defer cancel()
	version, err := c.Version(ctx, executable, h.Env)
	if err != nil || semver.Compare("v"+version, "v1.19.0") < 0 {
		return nil
	}
	return []string{"opencode " + version + " does not load the plugin that paw has: its turns, questions and ends are not seen, and its sessions outlive the pane"}
}

// uncommittedIn says that n uncommitted files in a checkout are not in the agents' worktrees.
func uncommittedIn(place string, n int) string {
	is := "are"
	if n == 1 {
		is = "is"
	}
	return fmt.Sprintf("%s in %s %s not in the new worktrees", errs.Counted(n, "uncommitted file"), place, is)
}

// ownRefs match the refs of all turn tags and paw's other refs, in the form of git's settings. git log
// shows refs outside of heads, remotes and tags as soon as it is told to leave any out.
var ownRefs = []string{"refs/tags/" + turn.TagPrefix + "*", "refs/paw/*"}

// hideTags is the command that hides turn tags in git log.
var hideTags = "git config --add log.excludeDecoration " + errs.Quote(ownRefs[0]) +
	" && git config --add log.excludeDecoration " + errs.Quote(ownRefs[1])

// decorationNote says whether git log will show turn tags, for a repository that is about to get its first ones.
func decorationNote(ctx context.Context, m *worktree.Manager, hide bool) []string {
	shown, err := m.Remotes().Decorated(ctx, ownRefs...)
	if err != nil || len(shown) == 0 {
		return nil
	}
	if hide && m.Remotes().Undecorate(ctx, shown) == nil {
		return []string{"turn tags stay out of the log here (log.excludeDecoration in .git/config)"}
	}
	return []string{"turn tags will show in git log; " + errs.Line("paw doctor --fix") + " keeps them out (log.excludeDecoration)"}
}
