package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/objects"
)

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
	size := 0
	for _, name := range slices.Sorted(maps.Keys(r.resets)) {
		size += len(name) + 100
		if r.resets[name] == "" {
			removed = append(removed, "./"+name)
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", 40), name)
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
	if err := r.inQuarantine(func(repo git.Repo) error {
		_, err := repo.Input(ctx, []byte(names.String()), args...)
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
	q, err := objects.NewQuarantine(r.m.Repository.CommonDir)
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
