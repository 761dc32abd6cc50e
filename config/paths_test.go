package config

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultPathsFollowTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "c"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "d"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "s"))
	p, err := DefaultPaths()
	if err != nil {
		t.Fatal(err)
	}
	want := Paths{
		ConfigFile:  filepath.Join(dir, "c", "paw", "config.toml"),
		SessionsDir: filepath.Join(dir, "d", "paw", "sessions"),
		StateDir:    filepath.Join(dir, "s", "paw"),
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	for got, want := range map[string]string{
		p.LocksDir(): "s/paw/locks", p.LaunchDir(): "s/paw/launch", p.TurnsDir(): "s/paw/turns", p.TrustFile(): "s/paw/trust.json",
	} {
		if got != filepath.Join(dir, want) {
			t.Errorf("got %s, want %s in %s", got, want, dir)
		}
	}

	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "moved"))
	if got, err := DefaultPaths(); err != nil || got.StateDir != filepath.Join(dir, "moved", "paw") {
		t.Errorf("after a change: %s, %v", got.StateDir, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("folders were made: %v, %v", entries, err)
	}
}

func TestHomeIsAPlaceForFiles(t *testing.T) {
	own, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "relative") // which the specification has ignored
	}
	t.Setenv("HOME", "")
	p, err := DefaultPaths()
	if err != nil || !strings.HasPrefix(p.StateDir, own.HomeDir) || !strings.HasPrefix(p.SessionsDir, own.HomeDir) || os.Getenv("HOME") != own.HomeDir {
		t.Errorf("got %+v, %v, HOME %s", p, err, os.Getenv("HOME"))
	}
	t.Setenv("HOME", "here")
	var wrong *HomeError
	if p, err := DefaultPaths(); !errors.As(err, &wrong) || wrong.Home != "here" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestWorktreePath(t *testing.T) {
	const standard = "{parent}/{repo}.paw/{session}/{agent}"
	for _, c := range []struct{ template, repo, want string }{
		{standard, "/home/u/shop", "/home/u/shop.paw/s/a"},
		{standard, "/shop", "/shop.paw/s/a"},
		{standard, "/home/u/my shop", "/home/u/my shop.paw/s/a"},
		{standard, "/home/u/{agent}", "/home/u/{agent}.paw/s/a"},
		{standard, "/home/{session}/shop", "/home/{session}/shop.paw/s/a"},
		{standard, "/home/u/shop.git", "/home/u/shop.git.paw/s/a"},
		{standard, "/home/u/shop/.bare", "/home/u/shop/bare.paw/s/a"},
		{standard, "/home/u/...", "/home/u/....paw/s/a"},
		{"{parent}/{repo}/{agent}", "/home/u/.shop", "/home/u/.shop/a"},
		{"{parent}/../trees/{repo}/{session}_{agent}/", "/home/u/shop", "/home/trees/shop/s_a"},
		{"/srv//{agent}/./x", "/home/u/shop", "/srv/a/x"},
		{"/srv/{agent}{agent}", "/home/u/shop", "/srv/aa"},
		{"/fixed", "/home/u/shop", "/fixed"},
	} {
		got, err := Config{Worktree: Worktree{Path: c.template}}.WorktreePath(c.repo, "s", "a")
		if err != nil || got != c.want {
			t.Errorf("%s for %s: got %q, %v, want %q", c.template, c.repo, got, err, c.want)
		}
	}
}

func TestWorktreePathRefuses(t *testing.T) {
	for _, c := range []struct{ template, repo, want, nearest string }{
		{"{parent}/{branch}", "/u/shop", "unknown placeholder {branch} (known: {parent} {repo} {session} {agent})", ""},
		{"{parent}/{agents}", "/u/shop", "unknown placeholder {agents}", "{agent}"},
		{"{parent}/{Agent}", "/u/shop", "unknown placeholder {Agent}", "{agent}"},
		{"{parent}/{}", "/u/shop", "unknown placeholder {} ", ""},
		{"{parent}/{{agent}}", "/u/shop", "unknown placeholder {{agent} ", "{agent}"},
		{"{parent}/{agent}}", "/u/shop", "brace without its partner", ""},
		{"{agent}/x", "/u/shop", "is relative", ""},
		{"", "/u/shop", "must not be empty", ""},
		{"{parent}/a\nb", "/u/shop", "line break", ""},
		{"{parent}/{repo}", "/u/sh\nop", "line break", ""},
		{"{parent}/{repo}", "u/shop", "is not an absolute path", ""},
		{"{parent}/{repo}", "", "is not an absolute path", ""},
		{"{parent}/{repo}", "/u/sh\x00op", "invisible character", ""},
	} {
		got, err := Config{Worktree: Worktree{Path: c.template}}.WorktreePath(c.repo, "s", "a")
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q for %q: got %q, %v", c.template, c.repo, got, err)
			continue
		}
		if got != "" || e.Key != "worktree.path" || e.Nearest != c.nearest || !strings.HasPrefix(e.Error(), "worktree.path: ") || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%q for %q: got %q, %+v", c.template, c.repo, got, *e)
		}
	}
}
