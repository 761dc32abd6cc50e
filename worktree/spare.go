package worktree

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// ignoreFile is the name of files with git's rules on which files to ignore.
const ignoreFile = ".gitignore"

// spare leaves untracked files alone that the goal ignores: they are no part of it, and stay like
// every ignored file. spare takes them out of the current tree, which the rescue gets, and returns the
// other changes. A file at whose path the goal has a folder, or the other way round, is not spared.
func (r *rewind) spare(ctx context.Context, changes []objects.Change) ([]objects.Change, error) {
	if !slices.ContainsFunc(changes, ignores) {
		return changes, nil
	}
	untracked, comes := map[string]bool{}, map[string]bool{}
	for _, name := range r.Untracked {
		untracked[name] = true
	}
	for _, c := range changes {
		for at := c.Name; !c.Gone && at != "."; at = path.Dir(at) { // its folders, as well
			comes[at] = at == c.Name || comes[at]
		}
	}
	var leaving []objects.Change
	for _, c := range changes {
		if _, folder := comes[c.Name]; c.Gone && untracked[c.Name] && !folder && !below(c.Name, comes) {
			leaving = append(leaving, c)
		}
	}
	if len(leaving) == 0 {
		return changes, nil
	}
	spared, err := r.ignoredByGoal(ctx, leaving)
	if err != nil || len(spared) == 0 {
		return changes, err
	}
	leaving = slices.DeleteFunc(leaving, func(c objects.Change) bool { return !spared[c.Name] })
	gone := func(objects.Change) string { return "" }
	if _, err := r.Repo.Input(ctx, indexInfo(leaving, gone), git.Quietly("update-index", "-z", "--index-info")...); err != nil {
		return nil, err
	}
	r.now, err = r.Repo.Line(ctx, git.Quietly("write-tree")...)
	return slices.DeleteFunc(changes, func(c objects.Change) bool { return spared[c.Name] }), err
}

func ignores(c objects.Change) bool { return !c.Gone && path.Base(c.Name) == ignoreFile }

// below reports whether a file comes where the path has a folder.
func below(name string, comes map[string]bool) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if comes[at] {
			return true
		}
	}
	return false
}

// ignoredByGoal returns the names of those changed files that git would ignore with the rules of the
// goal. git reads rules from files only, so they are checked out into a scratch folder.
func (r *rewind) ignoredByGoal(ctx context.Context, changes []objects.Change) (map[string]bool, error) {
	scratch := filepath.Join(r.Dir, "rules")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	rules := r.m.objects.Quarantined(snapshot.RepoWithIndex(r.Top, snapshot.NewScratchIndex(r.Dir))).WithEnv("GIT_DIR="+r.at.AdminDir, "GIT_WORK_TREE="+scratch)
	if err := rules.Run(ctx, snapshot.Privately("read-tree", "--no-sparse-checkout", r.to.Tree)...); err != nil {
		return nil, err
	}
	listed, err := rules.Output(ctx, snapshot.Privately("ls-files", "-z", "--", ":(top,glob)**/"+ignoreFile)...)
	if err != nil {
		return nil, err
	}
	if _, err := rules.Input(ctx, []byte(listed), snapshot.Privately("checkout-index", "-q", "-z", "--stdin")...); err != nil {
		return nil, err
	}
	return ignoredOf(ctx, rules, changes)
}
