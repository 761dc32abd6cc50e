package config

import (
	"path/filepath"
	"slices"
	"strings"
)

var placeholders = []string{"{parent}", "{repo}", "{session}", "{agent}"}

// WorktreePath expands the template of worktree.path for one agent: {parent} is
// the folder that holds the repository, {repo} the repository's own name. The
// result is absolute and clean. An unknown placeholder, a line break or a
// relative result is an *Error.
func (c Config) WorktreePath(repoPath, session, agent string) (string, error) {
	template := c.Worktree.Path
	if p := checkTemplate(template); p != nil {
		return "", p.of("worktree.path")
	}
	expanded := strings.NewReplacer(
		"{parent}", filepath.Dir(repoPath),
		"{repo}", filepath.Base(repoPath),
		"{session}", session,
		"{agent}", agent,
	).Replace(template)
	if p := checkVisible(expanded); p != nil {
		return "", p.of("worktree.path")
	}
	if !filepath.IsAbs(expanded) {
		return "", problemf("%q is not an absolute path", expanded).of("worktree.path")
	}
	return filepath.Clean(expanded), nil
}

// checkTemplate finds what can be wrong with a template before it is expanded.
func checkTemplate(template string) *problem {
	if p := checkVisible(template); p != nil {
		return p
	}
	if template == "" {
		return problemf("must not be empty")
	}
	rest := template
	for {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			break
		}
		length := strings.IndexByte(rest[open:], '}') + 1
		if length < 2 {
			return problemf("%q has a brace without its partner", template)
		}
		name := rest[open : open+length]
		if !slices.Contains(placeholders, name) {
			p := problemf("unknown placeholder %s (known: %s)", name, strings.Join(placeholders, " "))
			p.nearest = Nearest(name, placeholders)
			return p
		}
		rest = rest[open+length:]
	}
	if !strings.HasPrefix(template, "/") && !strings.HasPrefix(template, "{parent}") {
		return problemf("%q is relative; begin it with / or {parent}", template)
	}
	return nil
}

// besideRepository reports whether a template can only lead to a folder beside
// the repository that carries the repository's name. Anywhere else a checkout
// could put files where something runs them, such as an autostart folder.
func besideRepository(template string) bool {
	if !strings.HasPrefix(template, "{parent}/{repo}") {
		return false
	}
	return !slices.Contains(strings.Split(template, "/"), "..")
}
