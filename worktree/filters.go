package worktree

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"paw/config/disk"
	"paw/config/lazyregexp"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// requiresFilter reports whether a filter is set without which git writes no file (filter.NAME.required).
func (s Settings) requiresFilter() bool {
	for name, values := range s {
		if strings.HasPrefix(name, "filter.") && strings.HasSuffix(name, ".required") && !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(values[len(values)-1])) {
			return true
		}
	}
	return false
}

// hasAttributes reports, without git, whether a file of the checkout may have attributes, by which git knows what a
// filter is for: one in its index, in the repository or of the user.
func hasAttributes(at gitdir.Checkout) bool {
	index, err := disk.ReadFile(filepath.Join(at.AdminDir, "index"))
	return err != nil || bytes.Contains(index, []byte("attributes")) || slices.ContainsFunc(snapshot.AttributeFiles(at.AdminDir), disk.Exists)
}

// namesAttributes matches settings that name a file of attributes, or another one of settings.
var namesAttributes = lazyregexp.New(`(?i)attributesfile|\[include`)

// namedAttributes reports, mostly without git, whether a setting names a file of attributes.
func namedAttributes(at gitdir.Checkout, settings func() (Settings, error)) bool {
	mayName := slices.ContainsFunc(snapshot.ConfigFiles(at.AdminDir), func(file string) bool {
		content, _ := disk.ReadFile(file)
		return namesAttributes().Match(content)
	})
	if !mayName {
		return false
	}
	set, err := settings()
	return err != nil || len(set["core.attributesfile"]) > 0
}

// tryFilters has git convert the files that changes bring to a checkout, and throws them away. A required
// filter that fails then does so before the first file has moved: what is put back would be unconverted.
func tryFilters(ctx context.Context, at gitdir.Checkout, settings func(context.Context) (Settings, error), changes func() ([]objects.Change, error)) error {
	read := sync.OnceValues(func() (Settings, error) { return settings(ctx) })
	if !hasAttributes(at) && !namedAttributes(at, read) {
		return nil
	}
	set, err := read()
	if err != nil || !set.requiresFilter() {
		return err
	}
	all, err := changes()
	var input strings.Builder
	for _, c := range all {
		if !c.Gone && strings.HasPrefix(c.Mode, "100") {
			input.WriteString(c.ID + " " + c.Name + "\x00")
		}
	}
	if err != nil || input.Len() == 0 {
		return err
	}
	return git.In(at.Path).Stream(ctx, strings.NewReader(input.String()), io.Discard, git.Quietly("cat-file", "--filters", "--batch", "-z")...)
}
