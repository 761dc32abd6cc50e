package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
)

// keptState describes the index that a snapshot of a worktree keeps for the next snapshot. The
// state is stored beside that index.
type keptState struct {
	Index string    `json:"index"` // hash of the kept index
	Real  string    `json:"real"`  // IndexBits.Content of the worktree's own index that the kept one was made from
	Began time.Time `json:"began"` // start of the snapshot

	Seen string `json:"seen,omitempty"` // hash of the stat data of the files in own, "" if not all were recorded

	Tree   string `json:"tree,omitempty"`
	Head   string `json:"head,omitempty"` // first parent of Commit: HEAD when the snapshot was taken
	Commit string `json:"commit,omitempty"`

	// Paths in which the kept index differs from the real one: with a file, and without one.
	Files disk.FileNames `json:"files,omitempty"`
	Gone  disk.FileNames `json:"gone,omitempty"`

	own map[string]bool // all of them -> whether a file is there
}

// keptIndex returns the path of the kept index; dir is the worktree's folder for scratch files.
func keptIndex(dir string) string { return filepath.Join(dir, "index") }

func keptFile(dir string) string { return filepath.Join(dir, "kept") }

// Margins by which a change must be older than the start of a snapshot for the next snapshot to
// trust the kept index. ClockMargin is for file systems that store whole or even seconds,
// tickMargin for slow clock ticks.
const (
	ClockMargin = 2 * time.Second
	tickMargin  = 100 * time.Millisecond
)

// recent reports whether a change, by its file time, may have happened after a snapshot had begun.
func recent(change, began time.Time) bool {
	margin := ClockMargin
	if change.Nanosecond() != 0 {
		margin = tickMargin
	}
	return !change.Before(began.Add(-margin))
}

// keep stores the scratch index for the next snapshot.
func (r *recording) keep(tree, commit string) {
	s := keptState{Real: r.Real.Content, Began: r.Began, Tree: tree, Head: r.Head, Commit: commit}
	if tree == "" && len(r.base.own) > 0 { // Some of these files may not have been compared again.
		s.Began = r.base.Began
		for name, isFile := range r.base.own {
			if _, known := r.own[name]; !known {
				r.own[name] = isFile
			}
		}
	}
	for name, isFile := range r.own {
		if isFile {
			s.Files = append(s.Files, name)
		} else {
			s.Gone = append(s.Gone, name)
		}
	}
	if tree != "" && len(r.notSaved) == len(r.special) {
		s.Seen = r.seen
	}
	if s.Index = indexHash(r.Scratch); s.Index == "" || os.Rename(r.Scratch, keptIndex(r.Dir)) != nil {
		return
	}
	if content, err := json.Marshal(s); err == nil {
		_ = replaceKept(r.Dir, keptFile(r.Dir), content)
	}
}

// replaceKept replaces a file as a whole.
func replaceKept(dir, name string, content []byte) error {
	file := NewScratchIndex(dir)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	return os.Rename(file, name)
}

// keptBy reads the keptState of an earlier snapshot, and makes scratch a hard link to its index,
// which git replaces instead of writing into it. keptBy returns nil if there is none, or if
// settings that affect how content is converted have changed since.
func (snapshots *Taker) keptBy(admin, dir, scratch string) *keptState {
	content, err := disk.ReadFile(keptFile(dir))
	s := keptState{own: map[string]bool{}}
	if err != nil || json.Unmarshal(content, &s) != nil {
		return nil
	}
	for _, name := range s.Files {
		s.own[name] = true
	}
	for _, name := range s.Gone {
		s.own[name] = false
	}
	for _, name := range []string{
		filepath.Join(snapshots.Repository.CommonDir, "config"), filepath.Join(admin, "config.worktree"),
		filepath.Join(snapshots.Repository.CommonDir, "info", "attributes"),
	} {
		if info, err := os.Stat(name); err == nil && recent(info.ModTime(), s.Began) {
			return nil
		}
	}
	if os.Link(keptIndex(dir), scratch) != nil || indexHash(scratch) != s.Index {
		DropIndex(scratch)
		return nil
	}
	return &s
}

// forgetKept removes the kept index, which may name objects that are gone.
func forgetKept(dir string) {
	os.Remove(keptFile(dir))
	os.Remove(keptIndex(dir))
}

// ScratchAge is the age from which scratch files count as left by a killed paw.
const ScratchAge = time.Hour

// sweepOld removes entries of dir that have the prefix and are older than age.
func sweepOld(dir, prefix string, age time.Duration) {
	content, _ := os.ReadDir(dir)
	for _, item := range content {
		if !strings.HasPrefix(item.Name(), prefix) {
			continue
		}
		if info, err := item.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(filepath.Join(dir, item.Name()))
		}
	}
}

// ScratchPrefix begins the names of scratch folders in the git directory of a worktree.
const ScratchPrefix = "paw-scratch-"

// abandonedAge is the age from which a scratch folder counts as left by a killed paw.
const abandonedAge = 24 * time.Hour

// newScratch makes a folder for private indexes in a worktree's git directory, and removes those
// left by killed paws. The caller removes it.
func newScratch(admin string) (dir string, err error) {
	sweepOld(admin, ScratchPrefix, abandonedAge)
	return os.MkdirTemp(admin, ScratchPrefix)
}

// run carries out the plan on the scratch index.
func (r *recording) run(ctx context.Context) error {
	r.notSaved = slices.Clone(r.special)
	arguments, err := r.resetArguments(ctx)
	if err != nil {
		return err
	}
	for rest := r.files; len(arguments) > 0 || len(rest) > 0; arguments = nil {
		var batch []file
		batch, rest = r.nextBatch(ctx, rest)
		err := r.update(ctx, arguments, batch)
		if refused(ctx, err) {
			if err = r.update(ctx, arguments, nil); err == nil {
				err = r.addSome(ctx, batch)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resetArguments returns the arguments of `git update-index` for the resets. If they are too many
// for a command line, it carries them out at once and returns none.
func (r *recording) resetArguments(ctx context.Context) ([]string, error) {
	var removed, replaced []string
	var lines strings.Builder
	size, none := 0, strings.Repeat("0", max(len(r.Head), len(r.base.Tree), 40))
	for _, name := range slices.Sorted(maps.Keys(r.resets)) {
		size += len(name) + 100
		if r.resets[name] == "" {
			removed = append(removed, "./"+name)
			fmt.Fprintf(&lines, "0 %s\t%s\x00", none, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.resets)) {
		if mode, id, found := strings.Cut(r.resets[name], ","); found {
			replaced = append(replaced, "--cacheinfo", r.resets[name]+","+name)
			fmt.Fprintf(&lines, "%s %s\t%s\x00", mode, id, name)
		}
	}
	if size > resetBytes {
		_, err := r.Repo.Input(ctx, []byte(lines.String()), Privately("update-index", "-z", "--index-info")...)
		return nil, err
	}
	if len(removed) > 0 {
		removed = append(append([]string{"--force-remove"}, removed...), "--no-force-remove")
	}
	return append(removed, replaced...), nil
}

// isNew reports whether git has to read the file.
func (f file) isNew(r *recording) bool {
	_, reset := r.resets[f.name]
	return !f.gone && (reset || !f.known)
}

// nextBatch returns the files that one git process records: all without a time limit. Files that
// the index most likely has already do not count, since git only compares their times.
func (r *recording) nextBatch(ctx context.Context, all []file) (batch, rest []file) {
	if _, limited := ctx.Deadline(); !limited {
		return all, nil
	}
	size, count := int64(0), 0
	for i, f := range all {
		if !f.isNew(r) {
			continue
		}
		count++
		size += f.size
		if count > BatchFiles || count > 1 && size > batchBytes {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

// update makes git carry out resets and read files, all or nothing.
func (r *recording) update(ctx context.Context, resets []string, files []file) error {
	args := append(Privately(byAllFacts...), "update-index", "--add", "--remove", "--replace")
	if unknown := slices.DeleteFunc(slices.Clone(files), func(f file) bool { return !f.isNew(r) }); len(unknown) >= PackedBatch {
		args = append(slices.Clone(intoPack), args...)
	}
	args = append(append(args, resets...), "-z", "--stdin")
	var names strings.Builder
	for _, f := range files {
		names.WriteString(f.name + "\x00")
	}
	before := indexHash(r.Scratch)
	if err := r.inQuarantine(func(repo git.Repo) error {
		_, err := repo.Input(ctx, []byte(names.String()), args...)
		if err != nil && ctx.Err() != nil && indexHash(r.Scratch) != before {
			return nil // git was stopped after it had replaced the index, which names the new objects
		}
		return err
	}); err != nil {
		return err
	}
	for _, f := range files {
		r.own[f.name] = !f.gone
	}
	return nil
}

// inQuarantine calls f with a git whose new objects are moved to the store after f has succeeded.
func (r *recording) inQuarantine(f func(git.Repo) error) error {
	if r.m.objects.IsReader() {
		return f(r.Repo)
	}
	q, err := newQuarantine(r.m.Repository.CommonDir)
	if err != nil {
		return err
	}
	defer q.Drop()
	if err := f(q.Repo(r.Repo)); err != nil {
		return err
	}
	return q.Release()
}

// refused reports whether git has failed because of one of the files.
func refused(ctx context.Context, err error) bool { return ctx.Err() == nil && git.ExitCode(err) > 0 }

// addSome records as many files as possible after git has failed at one that it cannot read,
// convert or store. A file that is being written may succeed next time.
func (r *recording) addSome(ctx context.Context, files []file) error {
	if len(files) == 1 {
		err := r.update(ctx, nil, files)
		if !refused(ctx, err) {
			return err
		}
		r.notSaved, r.cause = append(r.notSaved, files[0].name), cmp.Or(r.cause, err)
		return nil
	}
	for half := range slices.Chunk(files, (len(files)+1)/2) {
		err := r.update(ctx, nil, half)
		if refused(ctx, err) {
			err = r.addSome(ctx, half)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
