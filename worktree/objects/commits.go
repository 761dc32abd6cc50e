package objects

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Work describes, for people, what a commit and a snapshot on top of it have beyond a base.
type Work struct {
	Commits     []string // "ID TITLE" of the newest commits, newest first
	CommitCount int      // number of all commits, listed or not
	Uncommitted []string // "LETTER PATH" of each file that differs in the snapshot; the letter is git status's
}

// Work lists the commits of commit since base, with at most most titles, and the files in which
// snapshot differs from commit; snapshot may be "". The user's log settings are ignored. Paths may
// hold any character but NUL.
func (o *Store) Work(ctx context.Context, base, commit, snapshot string, most int) (Work, error) {
	var w Work
	since := base + ".." + commit
	count, err := o.Home().Line(ctx, "rev-list", "--count", "--end-of-options", since, "--")
	if err != nil {
		return w, err
	}
	if w.CommitCount, err = strconv.Atoi(count); err != nil {
		return w, err
	}
	if w.CommitCount > 0 && most > 0 {
		log, err := o.Home().Output(ctx, "-c", "log.showSignature=false", "log", "--no-color", "--no-decorate", "--encoding=UTF-8",
			"--format=%h %s", "--max-count="+strconv.Itoa(most), "--end-of-options", since, "--")
		if err != nil {
			return w, err
		}
		w.Commits = strings.Split(strings.TrimRight(log, "\n"), "\n")
	}
	if snapshot == "" || snapshot == commit {
		return w, nil
	}
	err = eachChange(ctx, o.Home(), nil, nil, func(c Change) { w.Uncommitted = append(w.Uncommitted, c.letter+" "+c.Name) },
		git.Quietly("diff-tree"), "--end-of-options", commit, snapshot, "--")
	return w, err
}

// NewCommit describes a commit to make.
type NewCommit struct {
	Tree    string
	Parents []string
	Message string
	Author  []string // GIT_AUTHOR_… and GIT_COMMITTER_… items, nil for the user and now; of an own commit, its dates
	Own     bool     // paw is the author, for a commit that no user looks at
	In      string   // checkout whose settings say who the user is, "" for those of the repository
}

// Commit makes a commit without a ref, signed if the user signs commits. No hook runs.
func (o *Store) Commit(ctx context.Context, c NewCommit) (string, error) {
	if made := o.write(ctx, c); made != "" {
		o.known.isTreeOf(made, c.Tree)
		return made, nil
	}
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", c.Tree}
	for _, parent := range c.Parents {
		args = append(args, "-p", parent)
	}
	repo := o.Home()
	if c.In != "" {
		repo = o.withoutRefs(git.In(c.In))
	}
	repo = repo.WithEnv(c.Author...)
	if c.Own {
		repo = o.Home().WithEnv(slices.Concat(Author, c.Author)...)
	} else if signs, err := o.signsCommits(ctx); err != nil {
		return "", err
	} else if signs {
		args = append(args, "-S")
	}
	out, err := repo.Input(ctx, []byte(c.Message), append(args, "-F", "-")...)
	var failed *git.Error
	switch {
	case !errors.As(err, &failed):
	case failed.Said("empty ident name") || failed.Said("Please tell me who you are") || failed.Said("auto-detection is disabled"):
		err = fmt.Errorf("%w: %w", ErrNoIdentity, err)
	case !c.Own && (failed.Said("failed to sign") || failed.Said("gpg") || failed.Said("signing")):
		err = fmt.Errorf("%w: %w", ErrNotSigned, err)
	}
	made := strings.TrimSpace(out)
	if err == nil {
		o.known.isTreeOf(made, c.Tree)
	}
	return made, err
}

// Through returns o with a git process that goes on for all commits of paw's own, for a caller that makes several.
func (o *Store) Through(w *git.Answering) *Store {
	through := *o
	through.writer = w
	return &through
}

// write makes a commit like git commit-tree, "" where that has to: for another author, and for a tree or a
// parent that is not there or not known, since git hash-object does not look for them.
func (o *Store) write(ctx context.Context, c NewCommit) string {
	tree := c.Tree
	if of, named := strings.CutSuffix(tree, "^{tree}"); named {
		tree = o.known.treeOf(of)
	}
	if o.writer == nil || !c.Own || c.Author != nil || !o.hasAll(append([]string{tree}, c.Parents...)) {
		return ""
	}
	text := "tree " + tree + "\n"
	for _, parent := range c.Parents {
		text += "parent " + parent + "\n"
	}
	for _, who := range []string{"author", "committer"} {
		at := time.Now()
		if fixed := os.Getenv("GIT_" + strings.ToUpper(who) + "_DATE"); fixed != "" {
			var err error
			if at, err = time.Parse(time.RFC3339, fixed); err != nil { // git knows more ways to write a date
				return ""
			}
		}
		text += fmt.Sprintf("%s paw <%s> %d %s\n", who, Email, at.Unix(), at.Format("-0700"))
	}
	file, err := os.CreateTemp("", "paw")
	if err != nil {
		return ""
	}
	defer os.Remove(file.Name())
	if _, err = file.WriteString(text + "\n" + c.Message); errors.Join(err, file.Close()) != nil {
		return ""
	}
	made, _ := o.writer.Ask(ctx, o.Home(), file.Name()+"\n", 1, "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")
	return made
}

// hasAll reports whether objects are in the repository's own object store, or among those that a reader has
// made.
func (o *Store) hasAll(oids []string) bool {
	return !slices.ContainsFunc(oids, func(oid string) bool {
		return !gitdir.IsOID(oid) || !Stored(o.Repository.CommonDir, oid) && (!o.IsReader() || !disk.Exists(filepath.Join(o.scratch, oid[:2], oid[2:])))
	})
}

// Errors of Commit, wrapped with git's message.
var (
	ErrNoIdentity = errors.New("git has no name for the author of the commit")
	ErrNotSigned  = errors.New("the commit could not be signed")
)

// signsCommits reports whether the user has set commit.gpgSign. git is asked only where a file of settings may say so.
func (o *Store) signsCommits(ctx context.Context) (bool, error) {
	if !gitdir.InConfig(o.Repository.CommonDir, "gpgsign", "[include") {
		return false, nil
	}
	out, err := o.Home().Line(ctx, "config", "--type=bool", "--get", "commit.gpgSign")
	if git.ExitCode(err) == 1 { // commit.gpgSign is not set
		return false, nil
	}
	return out == "true", err
}

// TreeOf returns the tree of a commit.
func (o *Store) TreeOf(ctx context.Context, commit string) (string, error) {
	if tree := o.known.treeOf(commit); tree != "" {
		return tree, nil
	}
	tree, err := o.Home().Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
	if err == nil {
		o.known.isTreeOf(commit, tree)
	}
	return tree, err
}

// Known returns the tree of a commit, "" where git would have to be asked.
func (o *Store) Known(commit string) string { return o.known.treeOf(commit) }

// Know notes the tree of a commit, and parents of it, which git has told.
func (o *Store) Know(commit, tree string, parents ...string) {
	o.known.isTreeOf(commit, tree)
	for _, parent := range parents {
		o.known.cameBefore(parent, commit)
	}
}

// IsCommitOf reports whether a commit has this tree and exactly this parent. All are ids.
func (o *Store) IsCommitOf(ctx context.Context, commit, tree, parent string) (bool, error) {
	if !gitdir.IsOID(commit) {
		return false, &RefError{Ref: commit}
	}
	out, err := o.Home().Line(ctx, "rev-list", "--no-walk", "--no-commit-header", "--format=%T %P", commit, "--")
	return out == tree+" "+parent, err
}

// CommitInfo holds the fields of a commit.
type CommitInfo struct {
	ID, Tree string
	Parents  []string
	Author   []string // author as GIT_AUTHOR_… items
	Message  string
}

// Merges reports whether the commit is a merge.
func (c CommitInfo) Merges() bool { return len(c.Parents) > 1 }

// CommitsSince lists the commits of tip that none of the others has, oldest first, without merges.
// All are ids.
func (o *Store) CommitsSince(ctx context.Context, tip string, others ...string) ([]CommitInfo, error) {
	all, err := o.HistorySince(ctx, tip, others...)
	return slices.DeleteFunc(all, CommitInfo.Merges), err
}

// HistorySince is CommitsSince with merges.
func (o *Store) HistorySince(ctx context.Context, tip string, others ...string) ([]CommitInfo, error) {
	args := []string{
		"rev-list", "--reverse", "--topo-order", "--no-commit-header", "--encoding=UTF-8",
		"--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%aD%x00%B%x00%x00", tip,
	}
	for _, other := range others {
		args = append(args, "^"+other)
	}
	out, err := o.Home().Output(ctx, append(args, "--")...)
	if err != nil || out == "" {
		return nil, err
	}
	var commits []CommitInfo
	for _, record := range strings.Split(strings.TrimSuffix(out, "\x00\x00\n"), "\x00\x00\n") {
		fields := strings.Split(record, "\x00")
		if len(fields) != 7 {
			return nil, fmt.Errorf("git rev-list says %q, which is not understood", record)
		}
		commits = append(commits, CommitInfo{
			ID: fields[0], Tree: fields[1], Parents: strings.Fields(fields[2]), Message: fields[6],
			Author: []string{"GIT_AUTHOR_NAME=" + fields[3], "GIT_AUTHOR_EMAIL=" + fields[4], "GIT_AUTHOR_DATE=" + fields[5]},
		})
	}
	return commits, nil
}

// Touched says which commit was the last to change a path.
type Touched struct {
	Commit, Author, Title string
	Agent                 string // value of the trailer Paw-Agent, "" for none
}

// LastTouch returns the newest commit of tip, after since, that changed a path; nil for none.
func (o *Store) LastTouch(ctx context.Context, since, tip, path string) (*Touched, error) {
	out, err := o.Home().Line(ctx, "--literal-pathspecs", "-c", "log.showSignature=false", "log", "--max-count=1", "--no-color", "--encoding=UTF-8",
		"--format=%h%x00%an%x00%s%x00%(trailers:key=Paw-Agent,valueonly,separator=%x2C)", since+".."+tip, "--", path)
	if err != nil || out == "" {
		return nil, err
	}
	fields := strings.Split(out, "\x00")
	if len(fields) != 4 {
		return nil, fmt.Errorf("git log says %q, which is not understood", out)
	}
	return &Touched{Commit: fields[0], Author: fields[1], Title: fields[2], Agent: fields[3]}, nil
}

// LastMessage returns the message of the newest commit that head has and since has not, "" for
// none.
func (o *Store) LastMessage(ctx context.Context, path, head, since string) (string, error) {
	out, err := git.In(path).Output(ctx, "log", "-1", "--no-show-signature", "--no-notes", "--format=%B", head, "--not", since, "--")
	return strings.TrimSpace(out), err
}

// Has reports whether the repository has a commit, and starts git only if the commit is not in the
// repository's own object store.
func (o *Store) Has(ctx context.Context, commit string) bool {
	return Stored(o.Repository.CommonDir, commit) || o.Home().Run(ctx, "cat-file", "-e", commit+"^{commit}") == nil
}

// SnapshotHead returns the commit that HEAD was at when a snapshot was taken; the snapshot itself
// for a clean worktree.
func (o *Store) SnapshotHead(ctx context.Context, snapshot string) (string, error) {
	to, err := o.State(ctx, snapshot)
	return to.Head, err
}

// RefError says that a revision names no commit.
type RefError struct{ Ref string }

func (e *RefError) Error() string { return fmt.Sprintf("%s: no such commit", e.Ref) }

// State is where a rewind leads to.
type State struct {
	Commit, Tree string
	Head         string // HEAD when the commit was made: the first parent of a snapshot, else the commit itself
}

// State reads one commit. paw's snapshots are recognised by their author and committer.
func (o *Store) State(ctx context.Context, target string) (State, error) {
	args := []string{"-c", "core.warnAmbiguousRefs=false", "rev-list", "--no-walk", "--no-commit-header", "--format=%H%x00%T%x00%P%x00%ae%x00%ce", "--end-of-options", target, "--"}
	out, err := o.Home().Line(ctx, args...)
	if err != nil {
		return State{}, err
	}
	fields := strings.Split(out, "\x00")
	if len(fields) != 5 {
		return State{}, &RefError{Ref: target}
	}
	to := State{Commit: fields[0], Tree: fields[1], Head: fields[0]}
	if fields[3] == Email && fields[4] == Email {
		to.Head, _, _ = strings.Cut(fields[2], " ")
	}
	return to, nil
}

// SameTree reports whether two commits have the same tree.
func (o *Store) SameTree(ctx context.Context, a, b string) (bool, error) {
	one, err := o.TreeOf(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := o.TreeOf(ctx, b)
	return one == other, err
}

// Author signs snapshots; the user's name may be unknown to git.
var Author = []string{
	"GIT_AUTHOR_NAME=paw", "GIT_AUTHOR_EMAIL=" + Email,
	"GIT_COMMITTER_NAME=paw", "GIT_COMMITTER_EMAIL=" + Email,
}

// Email identifies paw's own commits.
const Email = "paw@localhost"
