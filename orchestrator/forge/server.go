// Package forge asks the server of a repository, with gh or glab, about issues and pull requests,
// and turns what it says into prompts. Landing, the queue and the commands use it; begin with
// Program.
package forge

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Program returns the installed gh or glab that asks a server, to be run in dir. The error begins
// with who, and says what, such as the name of a remote, has no such server.
func Program(h *app.App, of hosting.Place, dir, who, what string) (hosting.Program, error) {
	p := hosting.Program{Name: hosting.ProgramFor(of.Kind), Dir: dir, Env: h.Env}
	if p.Name == "" {
		return p, errs.New(errs.Usage, "%s: %s is neither on GitHub nor on GitLab, as far as its address tells", who, what).Hint("git remote -v")
	}
	var err error
	if p.Path, err = cli.LookPath(p.Name, h.Env); err != nil {
		return p, errs.New(errs.Missing, "%s: %s is not installed, which reads it from %s", who, p.Name, of.Host).Hint("git remote -v")
	}
	return p, nil
}

// server is the server of a repository, and the program that asks it.
type server struct {
	m       *worktree.Manager
	remote  worktree.Remote
	place   hosting.Place
	program hosting.Program
}

// serverOf finds the server of a repository; word is the value of a flag.
func serverOf(ctx context.Context, h *app.App, dir, flag, word string) (*server, error) {
	repository, err := gitdir.Discover(dir)
	if err != nil {
		return nil, err
	}
	t := &server{m: h.Manager(repository)}
	branch := t.m.Refs().CurrentBranch()
	if _, t.remote, _, err = t.m.Remotes().For(ctx, branch, branch); err != nil {
		return nil, err
	}
	if t.remote.Name == "" {
		return nil, errs.New(errs.Usage, "%s %s: this repository has no remote, or several and none is that of its branch", flag, word).Hint("git remote -v")
	}
	t.place, _ = hosting.PlaceOf(t.remote.Address)
	t.program, err = Program(h, t.place, repository.Path, flag+" "+word, t.remote.Name)
	return t, err
}
