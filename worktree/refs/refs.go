// Package refs reads the refs of a repository, from files where git is not needed, and writes them
// with git update-ref.
//
// Begin with Store; names of branches are in branches.go.
package refs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
	"paw/config/lazyregexp"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// LockedError says that a lock file keeps a ref from being changed. git holds such a lock for
// milliseconds, so a lock of a great Age was left by a killed git. Nothing is deleted.
type LockedError struct {
	Ref, File string
	Age       time.Duration
	CommonDir string // git directory of the repository
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: locked by %s, which is %s old", e.Ref, e.File, e.Age.Round(time.Second))
}

// LockPatience limits the wait for another git's lock, which a slow machine can hold for longer
// than git itself waits (core.filesRefLockTimeout, 100 ms).
const LockPatience = 2 * time.Second

// Store reads the refs of a repository, from files where git is not needed, and writes them with
// git.
type Store struct {
	Repository gitdir.Repository

	objects *objects.Store
	writer  *git.Answering // makes changes; nil for a git process for each
}

// New returns the refs of the repository that the objects are of.
func New(o *objects.Store) *Store { return &Store{Repository: o.Repository, objects: o} }

// Create makes a ref that does not exist yet. Of several callers at once exactly one gets true; the
// others get false, as does everyone for an existing ref. A lock file that stays gives a
// *LockedError.
func (r *Store) Create(ctx context.Context, ref, oid string) (won bool, err error) {
	err = r.Apply(ctx, []Change{{Ref: ref, To: oid, From: None}})
	if errors.Is(err, ErrMoved) {
		return false, nil
	}
	return err == nil, err
}

// Set sets a ref, existing or not: of several callers the last one wins.
func (r *Store) Set(ctx context.Context, ref, oid string) error {
	return r.Apply(ctx, []Change{{Ref: ref, To: oid}})
}

// Change is a change of a ref. To is None for one to delete. From is what the ref must be at: None for a ref
// that must not exist, "" for one that may be at anything.
type Change = gitdir.RefChange

// None says that a ref does not exist.
const None = "none"

// asInput returns changes as git update-ref -z --stdin reads them.
func asInput(changes []Change) (string, error) {
	var input strings.Builder
	for _, c := range changes {
		switch {
		case c.To == None && gitdir.IsOID(c.From):
			input.WriteString("delete " + c.Ref + "\x00" + c.From + "\x00")
		case !gitdir.IsOID(c.To):
			return "", fmt.Errorf("%s: %q is not a whole object id", c.Ref, c.To)
		case c.From == None:
			input.WriteString("create " + c.Ref + "\x00" + c.To + "\x00")
		default:
			input.WriteString("update " + c.Ref + "\x00" + c.To + "\x00" + c.From + "\x00")
		}
	}
	return input.String(), nil
}

// ErrMoved says that a ref is not at what it must be at.
var ErrMoved = errors.New("the ref has moved")

// Apply makes all changes in one transaction, or none. The error wraps ErrMoved if a ref is elsewhere.
func (r *Store) Apply(ctx context.Context, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	input, err := asInput(changes)
	if err != nil {
		return err
	}
	command := git.Quietly("update-ref", "--no-deref", "-z", "--stdin")
	err = r.Retry(ctx, changes[0].Ref, func() error {
		if r.writer != nil {
			_, err = r.writer.Ask(ctx, r.objects.Home(), "start\x00"+input+"commit\x00", 2, command...)
		} else {
			_, err = r.objects.Home().Input(ctx, []byte(input), command...)
		}
		return err
	})
	if git.Said(err, "but expected", "reference already exists") {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return err
}

// Delete deletes refs (name -> the id it must have) in one transaction: all of them, or none if one
// has moved, is locked or is gone.
func (r *Store) Delete(ctx context.Context, refs map[string]string) error {
	var changes []Change
	for ref, oid := range refs {
		changes = append(changes, Change{Ref: ref, To: None, From: oid})
	}
	return r.Apply(ctx, changes)
}

// List returns the refs that begin with one of the prefixes, with their ids. List starts one git
// process if the files of the ref store do not suffice, see gitdir.ListRefs.
func (r *Store) List(ctx context.Context, prefixes ...string) (map[string]string, error) {
	if found, ok, err := gitdir.ListRefs(r.Repository.CommonDir, prefixes, false); ok || err != nil {
		return found, err
	}
	var args []string
	for _, prefix := range prefixes {
		switch {
		case prefix == "":
		case strings.HasSuffix(prefix, "/"):
			args = append(args, prefix)
		default:
			args = append(args, prefix+"*", prefix+"*/**")
		}
	}
	found, err := r.list(ctx, args...)
	maps.DeleteFunc(found, func(ref, _ string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(ref, prefix) })
	})
	return found, err
}

// Read returns the id of the ref of exactly this name, "" for none, without a look at others.
func (r *Store) Read(ctx context.Context, ref string) (string, error) {
	cfg, err := gitdir.ReadCore(r.Repository.CommonDir)
	if err != nil {
		return "", err
	}
	if cfg.RefsInFiles() && !cfg.IgnoreCase { // else a file may be there under another name
		return (&gitdir.Refs{CommonDir: r.Repository.CommonDir}).Resolve(ref), nil
	}
	found, err := r.List(ctx, ref)
	return found[ref], err
}

// list returns the refs that git for-each-ref finds for these arguments, with their ids.
func (r *Store) list(ctx context.Context, args ...string) (map[string]string, error) {
	out, err := r.objects.Home().Output(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, args...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		oid, ref, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		found[ref] = oid
	}
	return found, nil
}

// Retry retries a change while another git's lock file is in the way, or while a git that packs
// refs removes the empty folders that the change has just made. If the lock file stays, the error
// names it.
func (r *Store) Retry(ctx context.Context, what string, change func() error) error {
	deadline := time.NewTimer(LockPatience)
	defer deadline.Stop()
	for {
		err := change()
		file := LockInTheWay(err)
		switch gone := git.Said(err, "unable to create directory for"); {
		case git.Said(err, "aborted by hook"):
			return &HookError{Ref: what, CommonDir: r.Repository.CommonDir, Err: err}
		case file == "" && !gone:
			return err
		}
		select {
		case <-deadline.C:
			if info, statErr := os.Lstat(file); statErr == nil {
				return &LockedError{Ref: what, File: file, Age: time.Since(info.ModTime()), CommonDir: r.Repository.CommonDir}
			}
			return err // the lock file is gone; there may be another one
		case <-ctx.Done():
			return ctx.Err()
		default: // git itself has waited already
		}
	}
}

// HookError says that a hook of the repository has refused to change a ref.
type HookError struct {
	Ref       string
	CommonDir string // git directory of the repository
	Err       error  // git's error, with the hook's output
}

func (e *HookError) Error() string {
	return fmt.Sprintf("%s: a hook refuses to change it: %v", e.Ref, e.Err)
}

func (e *HookError) Unwrap() error { return e.Err }

// lockThere matches what git says of a lock file that exists.
var lockThere = lazyregexp.New(`(?s)Unable to create '(.+?\.lock)': File exists`)

// LockInTheWay returns the lock file named in git's message, "" for another error.
func LockInTheWay(err error) string {
	if failed, ok := errors.AsType[*git.Error](err); ok {
		if found := lockThere().FindStringSubmatch(failed.Stderr); found != nil {
			return found[1]
		}
	}
	return ""
}

// Asked runs git update-ref -z --stdin in repo, with further arguments, for changes and others in one
// transaction, about which the hooks of the repository are asked. If hooks refuse, they are asked about
// changes alone: others are refs of paw, which no hook has to know. what names the refs in an error.
func (r *Store) Asked(ctx context.Context, repo git.Repo, what string, changes, others []Change, args ...string) error {
	run := func(all []Change) error {
		input, err := asInput(all)
		if err != nil {
			return err
		}
		return r.Retry(ctx, what, func() error {
			_, err := repo.Input(ctx, []byte(input), append(args, "-z", "--stdin")...)
			return err
		})
	}
	err := run(slices.Concat(others, changes))
	if _, refused := errors.AsType[*HookError](err); !refused || len(others) == 0 {
		return err
	}
	if err = r.Apply(ctx, others); err != nil || len(changes) == 0 {
		return err
	}
	if err = run(changes); err != nil {
		var back []Change
		for _, c := range others {
			if c.From != "" {
				back = append(back, Change{Ref: c.Ref, To: c.From, From: c.To})
			}
		}
		err = errors.Join(err, r.Apply(ctx, back))
	}
	return err
}

// claimTries limits the attempts to take a number: each failed one means that another process has
// taken it.
const claimTries = 1000

// Claim takes a number for good: the lowest one that is at least atLeast, at least 1, and above all
// numbers taken before. Claim creates the ref <prefix><n> at oid; prefix ends with a slash. Each
// number goes to exactly one process.
func (r *Store) Claim(ctx context.Context, prefix string, atLeast int, oid string) (n int, err error) {
	for range claimTries {
		highest, err := r.highestNumber(ctx, prefix)
		if err != nil {
			return 0, err
		}
		n = max(highest+1, atLeast, 1)
		won, err := r.Create(ctx, fmt.Sprintf("%s%d", prefix, n), oid)
		if err != nil || won {
			return n, err
		}
		if atLeast <= n { // A ref that the listing does not show must not block the claim.
			atLeast = n + 1
		}
	}
	return 0, fmt.Errorf("%s: no number could be taken", prefix)
}

// highestNumber returns the highest number among the refs directly below prefix, 0 for none.
func (r *Store) highestNumber(ctx context.Context, prefix string) (highest int, err error) {
	found, ok, err := gitdir.ListRefs(r.Repository.CommonDir, []string{prefix}, true)
	if !ok && err == nil {
		found, err = r.List(ctx, prefix)
	}
	for ref := range found {
		name := strings.TrimPrefix(ref, prefix)
		if n, err := strconv.Atoi(name); err == nil && strconv.Itoa(n) == name {
			highest = max(highest, n)
		}
	}
	return highest, err
}

// ErrTaken says that the ref for a snapshot exists already.
var ErrTaken = errors.New("the ref exists already")

// Keep makes ref point to a commit. The error wraps ErrTaken if the ref exists.
func (r *Store) Keep(ctx context.Context, commit, ref string) error {
	won, err := r.Create(ctx, ref, commit)
	if err == nil && !won {
		return fmt.Errorf("%s: %w", ref, ErrTaken)
	}
	if err != nil || !disk.Exists(filepath.Join(r.Repository.CommonDir, "gc.pid")) {
		return err
	}
	// A running gc may have chosen its objects before the ref existed, so check that all objects
	// are still there.
	if err = r.objects.Home().Run(ctx, "rev-list", "--objects", "--quiet", "--no-walk", commit); err != nil {
		return errors.Join(err, r.Delete(ctx, map[string]string{ref: commit}))
	}
	return nil
}

// Through returns r with one git update-ref process for all changes, for a caller that makes several with
// other work between them. Nil changes nothing.
func (r *Store) Through(w *git.Answering) *Store {
	through := *r
	through.writer = w
	return &through
}
