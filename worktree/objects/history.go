package objects

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// PatchIDs returns the patch ids of commits against their first parents, by commit. Merges and
// empty commits have none.
func (o Store) PatchIDs(ctx context.Context, commits []string) (map[string]string, error) {
	ids := map[string]string{}
	if len(commits) == 0 {
		return ids, nil
	}
	patches, err := o.Home().Input(ctx, []byte(strings.Join(commits, "\n")+"\n"), "diff-tree", "--stdin", "-p", "-r", "-O/dev/null", "--no-ext-diff", "--no-textconv", "--no-renames")
	if err != nil {
		return nil, err
	}
	out, err := o.Home().Input(ctx, []byte(patches), "patch-id", "--stable")
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 2 {
			ids[fields[1]] = fields[0]
		}
	}
	return ids, err
}

// IgnoredFiles returns the files of the worktree at path that git ignores.
func (o Store) IgnoredFiles(ctx context.Context, path string) (map[string]bool, error) {
	out, err := git.In(path).Output(ctx, git.Quietly("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--full-name")...)
	ignored := map[string]bool{}
	for _, name := range git.NulSeparated(out) {
		ignored[name] = true
	}
	return ignored, err
}

// TreeWith returns a commit's tree with some paths taken from another commit.
func (o Store) TreeWith(ctx context.Context, commit, from string, paths []string) (string, error) {
	there, err := o.Home().Output(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", from, "--"}, paths...)...)
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, path := range paths {
		entries.WriteString("0 " + strings.Repeat("0", len(commit)) + "\t" + path + "\x00")
	}
	return o.TreeOfEntries(ctx, commit, []byte(entries.String()+there))
}

// TreeOfEntries returns a commit's tree with changed entries, in the format of git update-index
// --index-info.
func (o Store) TreeOfEntries(ctx context.Context, commit string, entries []byte) (string, error) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	repo := o.Home().WithEnv("GIT_INDEX_FILE=" + filepath.Join(dir, "index"))
	if err := repo.Run(ctx, "read-tree", commit); err != nil {
		return "", err
	}
	if _, err := repo.Input(ctx, entries, "update-index", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return repo.Line(ctx, "write-tree")
}

// Had returns the paths at which a snapshot differs from base, the commit it was taken on, and
// which some commit on the first-parent line from base to tip has set to the snapshot's content.
func (o Store) Had(ctx context.Context, base, tip, snapshot string) ([]string, error) {
	taken, err := o.ChangesBetween(ctx, base, snapshot)
	if err != nil {
		return nil, err
	}
	wanted := map[string]string{}
	for _, c := range taken {
		wanted[c.Name] = c.Entry()
	}
	out, err := o.Home().Output(ctx, git.Quietly("log", "--first-parent", "--diff-merges=first-parent", "--format=", "--raw", "-z", "--no-renames", "--no-abbrev",
		"-O/dev/null", "--ignore-submodules=none", base+".."+tip)...)
	if err != nil {
		return nil, err
	}
	var had []string
	fields := git.NulSeparated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(strings.TrimSpace(fields[i]), ":"))
		if len(info) != 5 {
			return nil, fmt.Errorf("git log says %q, which is not understood", fields[i])
		}
		name := fields[i+1]
		if entry, is := wanted[name]; is && entry == EntryOf(info[1], info[3]) {
			had = append(had, name)
			delete(wanted, name)
		}
	}
	return had, nil
}
