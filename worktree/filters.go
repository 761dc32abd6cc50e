package worktree

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
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
func hasAttributes(commonDir string, at gitdir.Checkout) bool {
	index, err := disk.ReadFile(filepath.Join(at.AdminDir, "index"))
	home, _ := os.UserHomeDir()
	return err != nil || bytes.Contains(index, []byte("attributes")) || disk.Exists(filepath.Join(commonDir, "info", "attributes")) ||
		disk.Exists(filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "attributes"))
}

// tryFilters has git convert the files that changes bring to a checkout, and throws them away. A required
// filter that fails then does so before the first file has moved: what is put back would be unconverted.
func tryFilters(ctx context.Context, commonDir string, at gitdir.Checkout, settings func(context.Context) (Settings, error), changes func() ([]objects.Change, error)) error {
	if !hasAttributes(commonDir, at) {
		return nil
	}
	set, err := settings(ctx)
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
