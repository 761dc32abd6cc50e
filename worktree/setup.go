package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"paw/worktree/git"
)

// Problem is something SetUp could not or would not do. It never stops the rest.
type Problem struct {
	Path string // relative to the worktree; "" for the set-up command
	What string
	Err  error // of the set-up command
}

func (p Problem) String() string {
	if p.Path == "" {
		return "set-up command: " + p.What
	}
	return p.Path + ": " + p.What
}

// Setup says what makes a worktree usable.
type Setup struct {
	Copy, Link []string             // patterns of ignored files in the main checkout
	Include    bool                 // copy what includeFile names, too
	Command    string               // run through sh, "" for none
	For        string               // what else of the configuration the command depends on
	Env        []string             // of the command, without the variables of git.LocalEnv
	Out        io.Writer            // gets the output of the command
	Announce   func(command string) // called before the command runs
	Copied     func([]Copied)       // called with what was copied; nil for nobody
}

// Empty reports whether there is nothing to do.
func (s Setup) Empty() bool { return len(s.Copy) == 0 && len(s.Link) == 0 && s.Command == "" }

// includeFile lies at the top of the main checkout and names ignored files that worktrees get, as .gitignore names files.
const includeFile = ".worktreeinclude"

// included lists what includeFile names; a folder of which it names everything stands for its content.
func (m Manager) included(ctx context.Context, s Setup) ([]string, error) {
	file := filepath.Join(m.Repository.Path, includeFile)
	if !s.Include || !exists(file) {
		return nil, nil
	}
	out, err := in(m.Repository.Path).Output(ctx, "ls-files", "--others", "--ignored", "--exclude-from="+file, "--directory", "-z")
	return nulSeparated(out), err
}

// SetUp prepares the worktree at path: it copies what the globs match in the main
// checkout, links what Link names, then runs the command. A glob without a slash
// matches in every folder that is not itself ignored, one with a slash from the
// top. Nothing is ever linked into a check worktree: links become copies there.
//
// Only what git ignores in the worktree is copied or linked, so `git status`
// stays clean; what is there already stays as it is; nothing is written outside
// of the worktree. Unprepared is false after it, unless ctx ended.
func (m Manager) SetUp(ctx context.Context, path string, s Setup) []Problem {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err == nil {
		err = Verify(path, m.Repository.CommonDir, "")
	}
	if err != nil {
		return []Problem{{Path: ".", What: err.Error()}}
	}
	if exists(checkMark(admin)) {
		s.Copy, s.Link = slices.Concat(s.Copy, s.Link), nil
	}
	problems := m.bring(ctx, path, s)
	if s.Command != "" && ctx.Err() == nil {
		if s.Announce != nil {
			s.Announce(s.Command)
		}
		if err := runCommand(ctx, path, s.Command, s.Out, s.Env); err != nil {
			problems = append(problems, Problem{What: err.Error(), Err: err})
		}
	}
	if ctx.Err() != nil {
		return problems // cut short: whoever goes on with it begins again
	}
	if err := removeFile(unpreparedMark(admin)); err != nil {
		problems = append(problems, Problem{Path: ".", What: err.Error()})
	}
	return problems
}

// Unprepared reports whether a worktree was made whose set-up has not ended, since
// paw was killed before.
func (m Manager) Unprepared(path string) bool {
	admin, err := verified(path, m.Repository.CommonDir, "")
	return err == nil && exists(unpreparedMark(admin))
}

// bring copies and links.
func (m Manager) bring(ctx context.Context, path string, s Setup) []Problem {
	if len(s.Copy)+len(s.Link) > 0 && m.Repository.Path == "" {
		return []Problem{{Path: ".", What: "there is no main checkout to copy from"}}
	}
	included, err := m.included(ctx, s)
	if err != nil {
		return []Problem{{Path: includeFile, What: err.Error()}}
	}
	if len(s.Copy)+len(s.Link)+len(included) == 0 {
		return nil
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return []Problem{{Path: ".", What: err.Error()}}
	}
	defer root.Close()
	b := &bringer{from: m.Repository.Path, to: path, root: root}
	if all := b.copyAll(ctx, append(b.matches(ctx, s.Copy), included...)); len(all) > 0 && s.Copied != nil {
		s.Copied(all)
	}
	b.linkAll(ctx, s.Link)
	return b.problems
}

type bringer struct {
	from, to string // main checkout, worktree
	root     *os.Root
	mu       sync.Mutex
	problems []Problem
}

func (b *bringer) problem(name, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, Problem{Path: name, What: fmt.Sprintf(format, args...)})
}

// matches lists the paths in the main checkout that the patterns name.
func (b *bringer) matches(ctx context.Context, patterns []string) []string {
	var names []string
	seen := map[string]bool{".": true, ".git": true}
	add := func(name string) {
		if name = path.Clean(name); !seen[name] && !strings.HasPrefix(name, ".git/") {
			seen[name] = true
			names = append(names, name)
		}
	}
	var ignored []string
	for _, pattern := range patterns {
		pattern = strings.TrimSuffix(pattern, "/")
		if path.IsAbs(pattern) || !filepath.IsLocal(pattern) {
			b.problem(pattern, "leaves the repository")
			continue
		}
		found, err := fs.Glob(os.DirFS(b.from), pattern)
		if err != nil {
			b.problem(pattern, "%v", err)
			continue
		}
		for _, name := range found {
			add(name)
		}
		if strings.Contains(pattern, "/") {
			continue
		}
		if ignored == nil {
			if ignored, err = ignoredNames(ctx, b.from); err != nil {
				b.problem(pattern, "%v", err)
				continue
			}
		}
		for _, name := range ignored {
			if ok, _ := path.Match(pattern, path.Base(name)); ok {
				add(name)
			}
		}
	}
	return names
}

// linkAll makes symbolic links to the main checkout.
func (b *bringer) linkAll(ctx context.Context, patterns []string) {
	names := b.absent(b.matches(ctx, patterns))
	ignored := b.ignoredIn(ctx, names)
	for _, name := range names {
		if !ignored[name] {
			// A pattern that ends in a slash matches folders, and a link is none.
			b.problem(name, "not linked: git would not ignore the link; a pattern without a slash at its end in .gitignore or .git/info/exclude would")
			continue
		}
		if link := leadsOut(b.from, filepath.Join(b.from, name)); link != "" {
			b.problem(name, "not linked: its link %s leads out of it, so that it would bring files of the main checkout: use worktree.copy", link)
			continue
		}
		if err := b.copyParents(name); err != nil {
			b.problem(name, "not linked: %v", err)
			continue
		}
		if err := b.root.Symlink(filepath.Join(b.from, name), name); err != nil {
			b.problem(name, "not linked: %v", err)
		}
	}
}

// absent keeps the names that are not there yet.
func (b *bringer) absent(names []string) []string {
	var missing []string
	for _, name := range names {
		if _, err := b.root.Lstat(name); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// ignoredIn asks git which of names it ignores in the worktree. One question it
// cannot answer, such as a path below a link, spoils only itself.
func (b *bringer) ignoredIn(ctx context.Context, names []string) map[string]bool {
	ignored := map[string]bool{}
	if len(names) == 0 {
		return ignored
	}
	out, err := in(b.to).Input(ctx, nulTerminated(names), "check-ignore", "-z", "--stdin")
	if err != nil && git.ExitCode(err) != 1 && len(names) > 1 {
		for half := range slices.Chunk(names, (len(names)+1)/2) {
			maps.Copy(ignored, b.ignoredIn(ctx, half))
		}
		return ignored
	}
	if err == nil {
		for _, name := range nulSeparated(out) {
			ignored[name] = true
		}
	}
	return ignored
}

// nulSeparated splits the output of a git command with -z.
func nulSeparated(out string) []string {
	if out = strings.TrimSuffix(out, "\x00"); out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// commandPatience is how long a cancelled command may take to end.
const commandPatience = 5 * time.Second

// runCommand runs a command of the project through sh. When ctx ends it leaves no process of its group behind.
func runCommand(ctx context.Context, dir, command string, out io.Writer, env []string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(git.Scrub(env), "PWD="+dir)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = commandPatience
	err := cmd.Run()
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it left something behind that has its output
		return nil
	}
	return err
}

// Link is an ignored symbolic link of a worktree that leads into the main checkout.
type Link struct {
	Name   string // relative to the worktree
	Target string // in the main checkout
	Out    string // a link in the target's folder that leads out of that folder again, relative to it; "" for none
}

// LinksToMain lists the links that bring files of the main checkout into the worktree at path.
func (m Manager) LinksToMain(ctx context.Context, path string) ([]Link, error) {
	if m.Repository.Path == "" {
		return nil, nil
	}
	names, err := ignoredNames(ctx, path)
	if err != nil {
		return nil, err
	}
	var links []Link
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(path, name))
		if err == nil && filepath.IsAbs(target) && leadsInto(target, m.Repository.Path) {
			links = append(links, Link{name, target, leadsOut(m.Repository.Path, target)})
		}
	}
	return links, nil
}

// leadsOut finds, among the entries of a folder and of its subfolders, a symbolic link that leaves the folder: a relative one,
// as package managers make them to the packages of a workspace, or an absolute one into the main checkout. Whoever reads such
// a link through a link to the folder reads files of the main checkout. It returns "" for none.
func leadsOut(main, folder string) string {
	folder = resolved(folder)
	leaves := func(at string) bool {
		target, err := os.Readlink(at)
		switch {
		case err != nil:
			return false
		case filepath.IsAbs(target):
			return leadsInto(target, main) && !leadsInto(target, folder)
		}
		return !leadsInto(filepath.Join(filepath.Dir(at), target), folder)
	}
	return firstLink(folder, leaves)
}

// mostLookedAt is how many entries of a folder are looked at for a link.
const mostLookedAt = 20000

// firstLink finds a symbolic link that fits in a folder or in one of its subfolders, the nearest ones first; "" for none.
func firstLink(root string, fits func(at string) bool) string {
	left := mostLookedAt
	for folders := []string{""}; len(folders) > 0 && left > 0; folders = folders[1:] {
		entries, _ := os.ReadDir(filepath.Join(root, folders[0])) // a file has none
		left -= len(entries)
		for _, e := range entries {
			name := filepath.Join(folders[0], e.Name())
			switch {
			case e.Type()&fs.ModeSymlink != 0 && fits(filepath.Join(root, name)):
				return name
			case e.IsDir():
				folders = append(folders, name)
			}
		}
	}
	return ""
}

// leadsInto reports whether a path is a folder or lies in it, by its text or behind its links.
func leadsInto(path, folder string) bool {
	path = filepath.Clean(path)
	if path == folder || within(path, folder) {
		return true
	}
	path, folder = resolved(path), resolved(folder)
	return path == folder || within(path, folder)
}

// ignoredNames lists the ignored files of the checkout at path; a folder that is ignored as a whole stands for its content.
func ignoredNames(ctx context.Context, path string) ([]string, error) {
	out, err := in(path).Output(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, name := range nulSeparated(out) {
		names = append(names, strings.TrimSuffix(name, "/"))
	}
	return names, nil
}
