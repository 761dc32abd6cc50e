package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/worktree/git"
)

// indexEntry is one path of an index, as `git ls-files --stage -v` lists it.
type indexEntry struct {
	name, mode, id, stage string
	assumed               bool // assume-unchanged
	skipped               bool // skip-worktree
}

// modeGitlink is the mode of a submodule.
const modeGitlink = "160000"

func (e indexEntry) gitlink() bool { return e.mode == modeGitlink }

// cacheinfo is how git update-index takes an entry, "" for none.
func (e indexEntry) cacheinfo() string {
	if strings.Trim(e.mode, "0") == "" {
		return ""
	}
	return e.mode + "," + e.id
}

// same reports whether both stand for the same content.
func (e indexEntry) same(other indexEntry) bool { return e.mode == other.mode && e.id == other.id }

// alike reports whether both are the same path, side of a conflict and content.
func (e indexEntry) alike(other indexEntry) bool {
	return e.name == other.name && e.stage == other.stage && e.same(other)
}

// listIndex lists the index that repo has, by name, then by stage.
func listIndex(ctx context.Context, repo git.Repo) ([]indexEntry, error) {
	out, err := repo.Output(ctx, privately("ls-files", "--stage", "-v", "-z")...)
	if err != nil {
		return nil, err
	}
	entries := make([]indexEntry, 0, strings.Count(out, "\x00"))
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") { // TAG MODE ID STAGE, a tab, the path
		info, name, found := strings.Cut(line, "\t")
		if line == "" {
			continue
		}
		f := strings.Fields(info)
		if !found || len(f) != 4 || name == "" { // of an index that is cut off git lists entries without names
			return nil, fmt.Errorf("git ls-files says %q, which is not understood", line)
		}
		tag := strings.ToUpper(f[0])
		entries = append(entries, indexEntry{
			name: name, mode: f[1], id: f[2], stage: f[3], assumed: tag != f[0], skipped: tag == "S",
		})
	}
	return entries, nil
}

// oneEach returns the entries without the sides of conflicts, of which ours stands for all.
func oneEach(all []indexEntry) []indexEntry {
	if !slices.ContainsFunc(all, func(e indexEntry) bool { return e.stage != "0" }) {
		return all
	}
	var one []indexEntry
	for _, e := range all {
		switch last := len(one) - 1; {
		case last < 0 || one[last].name != e.name:
			one = append(one, e)
		case e.stage == "2":
			one[last] = e
		}
	}
	return one
}
