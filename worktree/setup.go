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
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Problem is something that SetUp could not do, or refused. A problem never stops the rest.
type Problem struct {
	Path string // relative to the worktree; "" for the set-up command
	What string
	Err  error // error of the set-up command
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
	Include    bool                 // also copy the files named in includeFile
	Command    string               // run with sh, "" for none
	For        string               // other settings that the command depends on, for Fingerprint
	Env        []string             // environment of the command, without the variables that git.Scrub removes
	Out        io.Writer            // gets the command's output
	Terminal   *os.File             // terminal that the command runs on, in its foreground, instead of Out; may be nil
	Announce   func(command string) // called before the command runs
	Copied     func([]string)       // called with the copied files and folders; may be nil
}

// Empty reports whether nothing is to be copied, linked or run.
func (s Setup) Empty() bool { return len(s.Copy) == 0 && len(s.Link) == 0 && s.Command == "" }

// Setups makes worktrees of a repository usable, with files of its main checkout and with commands of
// the project.
type Setups struct {
	Repository gitdir.Repository
}

// Nothing reports whether SetUp would not copy, link or run anything.
func (u *Setups) Nothing(s Setup) bool {
	return s.Empty() && (!s.Include || !disk.Exists(filepath.Join(u.Repository.Path, includeFile)))
}

// includeFile names ignored files that worktrees get, in the format of .gitignore. The file is at
// the top of the main checkout.
const includeFile = ".worktreeinclude"

// included lists the files named in includeFile. For a folder that is named as a whole, included
// lists the folder.
func (u *Setups) included(ctx context.Context, s Setup) ([]string, error) {
	file := filepath.Join(u.Repository.Path, includeFile)
	if !s.Include || !disk.Exists(file) {
		return nil, nil
	}
	return othersIn(ctx, u.Repository.Path, "--exclude-from="+file)
}

// SetUp prepares the worktree at path: it copies the files of the main checkout that match Copy,
// links those that match Link, and runs the command. A pattern without a slash matches in every
// folder that is not ignored itself, one with a slash from the top. In a check worktree links
// become copies.
//
// Only files that git ignores in the worktree are copied or linked, so `git status` stays clean;
// existing files are kept; nothing is written outside of the worktree. Afterwards Unprepared is
// false, unless ctx has ended or the command has failed.
func (u *Setups) SetUp(ctx context.Context, path string, s Setup) []Problem {
	admin, err := gitdir.Linked(path, u.Repository.CommonDir, "")
	if err == nil {
		err = gitdir.Verify(path, u.Repository.CommonDir, "")
	}
	if err == nil {
		err = os.WriteFile(unpreparedMark(admin), nil, 0o666)
	}
	if err != nil {
		return []Problem{{Path: ".", What: err.Error()}}
	}
	if disk.Exists(checkMark(admin)) {
		s.Copy, s.Link = slices.Concat(s.Copy, s.Link), nil
	}
	problems := u.bring(ctx, path, s)
	if s.Command != "" && ctx.Err() == nil {
		if s.Announce != nil {
			s.Announce(s.Command)
		}
		if err := runCommand(ctx, path, s.Command, s.Out, s.Env, s.Terminal); err != nil {
			return append(problems, Problem{What: err.Error(), Err: err})
		}
	}
	if ctx.Err() != nil {
		return problems // Interrupted: the next SetUp begins again.
	}
	if err := disk.RemoveFile(unpreparedMark(admin)); err != nil {
		problems = append(problems, Problem{Path: ".", What: err.Error()})
	}
	return problems
}

// Unprepared reports whether the set-up of a worktree has not completed: it failed, or was ended.
func (u *Setups) Unprepared(path string) bool {
	admin, err := gitdir.Linked(path, u.Repository.CommonDir, "")
	return err == nil && disk.Exists(unpreparedMark(admin))
}

func (u *Setups) bring(ctx context.Context, path string, s Setup) []Problem {
	if len(s.Copy)+len(s.Link) > 0 && u.Repository.Path == "" {
		return []Problem{{Path: ".", What: "there is no main checkout to copy from"}}
	}
	included, err := u.included(ctx, s)
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
	b := &bringer{from: u.Repository.Path, to: path, root: root, trash: Trash{Repository: u.Repository}}
	if all := b.copyAll(ctx, append(b.matches(ctx, s.Copy), included...)); len(all) > 0 && s.Copied != nil {
		s.Copied(all)
	}
	b.linkAll(ctx, s.Link)
	return b.problems
}

type bringer struct {
	from, to string // paths of the main checkout and of the worktree
	root     *os.Root
	trash    Trash
	problems []Problem
}

func (b *bringer) problem(name, format string, args ...any) {
	b.problems = append(b.problems, Problem{Path: name, What: fmt.Sprintf(format, args...)})
}

// matches lists the paths in the main checkout that the patterns match.
func (b *bringer) matches(ctx context.Context, patterns []string) []string {
	var names []string
	seen := map[string]bool{".": true, ".git": true}
	add := func(name string) {
		if name = path.Clean(name); !seen[name] && !strings.HasPrefix(name, ".git/") {
			seen[name] = true
			names = append(names, name)
		}
	}
	ignored := sync.OnceValues(func() ([]string, error) { return othersIn(ctx, b.from, "--exclude-standard") })
	for _, pattern := range patterns {
		pattern = strings.TrimSuffix(pattern, "/")
		if path.IsAbs(pattern) || !filepath.IsLocal(pattern) {
			b.problem(pattern, "leaves the repository")
			continue
		}
		found, err := fs.Glob(os.DirFS(b.from), pattern)
		if err == nil && !strings.Contains(pattern, "/") {
			var all []string
			all, err = ignored()
			for _, name := range all {
				if ok, _ := path.Match(pattern, path.Base(name)); ok {
					found = append(found, name)
				}
			}
		}
		if err != nil {
			b.problem(pattern, "%v", err)
		}
		for _, name := range found {
			add(name)
		}
	}
	return names
}

// linkAll makes symlinks into the main checkout.
func (b *bringer) linkAll(ctx context.Context, patterns []string) {
	names := b.absent(b.matches(ctx, patterns))
	ignored := ignoredIn(ctx, b.to, names)
	for _, name := range names {
		if !ignored[name] {
			// A pattern with a final slash matches folders, and a symlink is none.
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

// absent returns the names that do not exist in the worktree.
func (b *bringer) absent(names []string) []string {
	var missing []string
	for _, name := range names {
		if _, err := b.root.Lstat(name); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// ignoredIn asks git which of names it ignores in a checkout. If git cannot answer for a name,
// such as a path behind a symlink, only that name is lost.
func ignoredIn(ctx context.Context, dir string, names []string) map[string]bool {
	ignored, err := git.In(dir).Ignored(ctx, names)
	if err != nil && len(names) > 1 {
		ignored = map[string]bool{}
		for half := range slices.Chunk(names, (len(names)+1)/2) {
			maps.Copy(ignored, ignoredIn(ctx, dir, half))
		}
	}
	return ignored
}

// commandPatience limits how long a cancelled command may take to end.
const commandPatience = 5 * time.Second

// interruptPatience is how long a command may go on after Ctrl-C until it is told to end.
const interruptPatience = 2 * time.Second

// wardenProgram is the program of a shell that leads the process group of a command. Ctrl-C ends the shell, which tells of
// it even where the command does not mind. The shell's input ends with the process that has started it, also when that is
// killed; then it kills the group.
const wardenProgram = `trap "" HUP TERM TSTP; read -r line; kill -KILL 0`

// warden is that shell.
type warden struct {
	*exec.Cmd
	over, ended chan struct{} // closed when the command is over, and when the shell has ended
	interrupted bool          // the shell ended before the command was over
}

// startWarden starts a warden, whose group becomes the foreground of terminal if that is not nil. It calls stop when the
// command goes on for interruptPatience after Ctrl-C.
func startWarden(terminal *os.File, stop func()) (*warden, error) {
	w := &warden{Cmd: exec.Command("sh", "-c", wardenProgram), over: make(chan struct{}), ended: make(chan struct{})} //nolint:forbidigo,noctx // end ends it
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if terminal != nil {
		w.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: int(terminal.Fd())}
	}
	if _, err := w.StdinPipe(); err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(w.ended)
		_ = w.Wait()
		select {
		case <-w.over:
			return
		default:
			w.interrupted = true
		}
		select {
		case <-w.over:
		case <-time.After(interruptPatience):
			stop()
		}
	}()
	return w, nil
}

// signal sends a signal to all processes of the group.
func (w *warden) signal(sig syscall.Signal) error { return syscall.Kill(-w.Process.Pid, sig) }

// end ends the warden alone, and reports whether the command was interrupted.
func (w *warden) end() (interrupted bool) {
	close(w.over)
	_ = w.Process.Kill()
	<-w.ended
	return w.interrupted
}

// runCommand runs a command of the project with sh: in the foreground of a terminal, or with its
// output to out where terminal is nil. When ctx ends, and at Ctrl-C on the terminal, the processes of
// the command's group are killed that do not end by themselves, and at once when this process is
// killed.
func runCommand(ctx context.Context, dir, command string, out io.Writer, env []string, terminal *os.File) error {
	if terminal != nil {
		defer toForeground(terminal)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	guard, err := startWarden(terminal, stop)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(git.Scrub(env), "PWD="+dir)
	cmd.Stdout, cmd.Stderr = out, out
	if terminal != nil {
		cmd.Stdout, cmd.Stderr = terminal, terminal // without input: nobody may be there to answer
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: guard.Process.Pid}
	cmd.Cancel = func() error { return guard.signal(syscall.SIGTERM) }
	cmd.WaitDelay = commandPatience
	err = cmd.Run()
	if ctx.Err() != nil {
		_ = guard.signal(syscall.SIGKILL)
		err = ctx.Err()
	}
	interrupted := guard.end()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		status, known := exit.Sys().(syscall.WaitStatus)
		interrupted = interrupted || known && status.Signaled() && status.Signal() == syscall.SIGINT
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // The command has left a process behind that keeps its output open.
		return nil
	case interrupted && err != nil:
		return errors.New("interrupted")
	}
	return err
}

// othersIn lists the files of the checkout at path that an option of git ls-files excludes. For a
// folder that is excluded as a whole, othersIn lists the folder, with a slash at its end.
func othersIn(ctx context.Context, path, excluded string) ([]string, error) {
	out, err := git.In(path).Output(ctx, "ls-files", "--others", "--ignored", excluded, "--directory", "-z")
	return git.NulSeparated(out), err
}

// TearDown runs a command of the project with sh in the worktree at path, before its removal, with
// output to out, and without the variables that git.Scrub removes. When ctx ends, all processes of
// the command's group are killed.
func (u *Setups) TearDown(ctx context.Context, path, command string, out io.Writer, env []string) error {
	if err := gitdir.Verify(path, u.Repository.CommonDir, ""); err != nil {
		return err
	}
	return runCommand(ctx, path, command, out, env, nil)
}

// toForeground makes this process's group the foreground of a terminal again. The kernel would stop
// a process of the background for that.
func toForeground(terminal *os.File) {
	signal.Ignore(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
	signal.Reset(syscall.SIGTTOU)
}
