package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/worktree/git"
)

// turnSession is the name under refs/paw for the owner of a worktree:
// "paw session/agent" is "session_agent".
func turnSession(owner string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(owner, "paw "), "/", "_")
	if checkBranchName(name) != nil {
		return "unknown"
	}
	return name
}

// rescue keeps what only the git directory of a worktree leads to: what is
// staged in its index when that differs from HEAD, and commits that no ref keeps
// (a detached HEAD, an unfinished merge, an autostash). It returns the ref, ""
// when there is nothing to keep.
func (m Manager) rescue(ctx context.Context, admin, owner string) (string, error) {
	repo := m.home().WithEnv("GIT_DIR=" + admin)
	head := m.headOf(admin)
	tree, err := m.indexTree(ctx, repo, admin)
	if err != nil {
		return "", err
	}
	headTree := ""
	if head != "" {
		if headTree, err = repo.Line(ctx, "rev-parse", "--verify", head+"^{tree}"); err != nil {
			return "", err
		}
	}
	loose, err := m.looseCommits(ctx, repo, admin, head)
	if err != nil {
		return "", err
	}
	staged := tree != "" && tree != headTree && (head != "" || !m.isEmptyTree(ctx, repo, tree))
	switch {
	case !staged && len(loose) == 0:
		return "", nil
	case !staged && len(loose) == 1:
		return m.keepRescue(ctx, loose[0], owner)
	}
	if tree == "" {
		tree = headTree
	}
	args := []string{"commit-tree", tree, "-m", "index and commits of a worktree"}
	if head != "" {
		args = append(args, "-p", head)
	}
	for _, commit := range loose {
		if commit != head {
			args = append(args, "-p", commit)
		}
	}
	commit, err := repo.WithEnv(snapshotAuthor...).Line(ctx, args...)
	if err != nil {
		return "", err
	}
	return m.keepRescue(ctx, commit, owner)
}

func (m Manager) keepRescue(ctx context.Context, commit, owner string) (string, error) {
	name := "refs/paw/" + turnSession(owner) + "/rescue/" + time.Now().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		ref := name
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", name, n)
		}
		err := m.keep(ctx, commit, ref)
		if err == nil {
			return ref, nil
		}
		if !errors.Is(err, ErrRefTaken) || n == 100 {
			return "", err
		}
	}
}

// indexTree writes the tree of a worktree's index; of a conflict it takes our
// side. It is "" when there is no index or git cannot read it.
func (m Manager) indexTree(ctx context.Context, repo git.Repo, admin string) (string, error) {
	file, err := os.CreateTemp(admin, "paw-scratch-")
	if err != nil {
		return "", err
	}
	s := scratch{path: file.Name(), repo: repo.WithEnv("GIT_INDEX_FILE=" + file.Name())}
	defer s.drop()
	if err := copyIndex(filepath.Join(admin, "index"), file); err != nil {
		return "", err
	}
	if !exists(s.path) {
		return "", nil
	}
	out, err := s.repo.Output(ctx, quietly("ls-files", "--unmerged", "-z")...)
	if err != nil {
		return "", unlessBroken(err)
	}
	if out != "" {
		if _, err := s.repo.Input(ctx, []byte(ourSide(out)), quietly("update-index", "-z", "--index-info")...); err != nil {
			return "", unlessBroken(err)
		}
	}
	tree, err := s.repo.Line(ctx, quietly("write-tree")...)
	return tree, unlessBroken(err)
}

// unlessBroken forgives an index that git itself cannot read: nothing can be
// taken from it, and the file is kept.
func unlessBroken(err error) error {
	if git.ExitCode(err) > 0 {
		return nil
	}
	return err
}

// ourSide turns the output of `ls-files --unmerged -z` into the input of
// `update-index -z --index-info` that settles each conflict.
func ourSide(unmerged string) string {
	type side struct{ mode, oid, stage string }
	chosen := map[string]side{}
	var names []string
	for _, line := range nulSeparated(unmerged) {
		info, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(info)
		if len(fields) != 3 {
			continue
		}
		old, known := chosen[name]
		if !known {
			names = append(names, name)
		}
		if !known || fields[2] == "2" || old.stage == "1" {
			chosen[name] = side{fields[0], fields[1], fields[2]}
		}
	}
	var input strings.Builder
	for _, name := range names {
		c := chosen[name]
		fmt.Fprintf(&input, "0 %s\t%s\x00", strings.Repeat("0", len(c.oid)), name)
		fmt.Fprintf(&input, "%s %s 0\t%s\x00", c.mode, c.oid, name)
	}
	return input.String()
}

// looseCommits are the commits that the git directory of a worktree names and no
// ref keeps, the detached HEAD first.
func (m Manager) looseCommits(ctx context.Context, repo git.Repo, admin, head string) ([]string, error) {
	var candidates []string
	if isOID(readLine(filepath.Join(admin, "HEAD"))) {
		candidates = append(candidates, head)
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_AUTOSTASH",
		"rebase-merge/autostash", "rebase-merge/orig-head", "rebase-apply/autostash", "rebase-apply/orig-head"} {
		for line := range strings.Lines(readLine(filepath.Join(admin, name))) {
			if oid := strings.TrimSpace(line); isOID(oid) {
				candidates = append(candidates, oid)
			}
		}
	}
	var loose []string
	for _, oid := range candidates {
		out, err := repo.Output(ctx, "rev-list", "--max-count=1", oid, "--not",
			"--exclude=refs/worktree/*", "--exclude=refs/bisect/*", "--exclude=refs/rewritten/*", "--glob=refs/*")
		if err != nil && git.ExitCode(err) < 0 {
			return nil, err
		}
		if out != "" {
			loose = append(loose, oid)
		}
	}
	return loose, nil
}

func (m Manager) isEmptyTree(ctx context.Context, repo git.Repo, tree string) bool {
	empty, err := repo.Line(ctx, "hash-object", "-t", "tree", "--stdin")
	return err == nil && tree == empty
}
