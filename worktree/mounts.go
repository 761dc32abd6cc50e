package worktree

import (
	"fmt"
	"slices"
	"strings"
)

// mountsAmong are those of all mount points that are at path or below it.
// What lies there is not the worktree's: a rename would take it along, and a
// deletion would empty it.
func mountsAmong(all []string, path string) []string {
	top := resolved(path)
	below := slices.DeleteFunc(slices.Clone(all), func(at string) bool { return at != top && !within(at, top) })
	slices.Sort(below)
	return slices.Compact(below)
}

// refuseMounts refuses to move a directory with something mounted in it.
func refuseMounts(path string) error {
	all, err := mountPoints()
	if err != nil {
		return fmt.Errorf("what is mounted below %s cannot be read: %w", path, err)
	}
	mounted := mountsAmong(all, path)
	if len(mounted) == 0 {
		return nil
	}
	return conflict("", "umount "+quote(mounted[0]), "%s: a file system is mounted at %s", path, mounted[0])
}

// quote makes a path one word of a shell's command line.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
