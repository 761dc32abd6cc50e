package config

import (
	"errors"
	"strings"
	"testing"
)

func TestWorktreePath(t *testing.T) {
	const standard = "{parent}/{repo}.paw/{session}/{agent}"
	for _, c := range []struct{ template, repo, want string }{
		{standard, "/home/u/shop", "/home/u/shop.paw/s/a"},
		{standard, "/shop", "/shop.paw/s/a"},
		{standard, "/home/u/my shop", "/home/u/my shop.paw/s/a"},
		{standard, "/home/u/{agent}", "/home/u/{agent}.paw/s/a"},
		{standard, "/home/{session}/shop", "/home/{session}/shop.paw/s/a"},
		{standard, "/home/u/shop.git", "/home/u/shop.git.paw/s/a"},
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

func TestNearest(t *testing.T) {
	words := []string{"copy", "link", "setup", "path", "snapshot_seconds"}
	for name, want := range map[string]string{
		"copy": "copy", "copi": "copy", "cpoy": "copy", "COPY": "copy", "cop": "copy", "copyy": "copy",
		"pathh": "path", "snapshot-seconds": "snapshot_seconds", "snapshots": "", "x": "", "": "", "lnik": "link",
		"ünïcödé": "",
	} {
		if got := Nearest(name, words); got != want {
			t.Errorf("nearest of %q is %q, want %q", name, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("nearest of no words is %q", got)
	}
}
