package worktree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// piece is a path that a landing moves. Each side, before and after, has an index entry and a file,
// which differ where the user has had uncommitted files of an agent.
type piece struct {
	objects.Change
	index, file [2]string // before and after, as objects.EntryOf writes them
}

// puttingBack finds out what is put back in a checkout.
type puttingBack struct {
	*move
	dir    string
	pieces []piece
	have   map[string]string // entries of the index, by path
	away   map[string]bool   // paths that a bit keeps out of the checkout

	write, remove []string // files
	set           []piece  // index entries
	left          []string // files that are neither as before nor as after
}

// putBack ends a landing that was cut before the branch moved: at each path that HEAD has as before the
// landing, a file or index entry that is as after it becomes what it was. A missing file, or the
// beginning of one, does, too: git makes a file anew in order to write it. Other files stay, and putBack
// returns their names.
func (v *move) putBack(ctx context.Context) (left []string, err error) {
	dir, err := os.MkdirTemp(v.at.AdminDir, snapshot.ScratchPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := &puttingBack{move: v, dir: dir, away: map[string]bool{}}
	for _, name := range v.Absent {
		p.away[name] = true
	}
	if err := p.readPieces(ctx); err != nil {
		return nil, err
	}
	if err := p.lookAtFiles(ctx); err != nil {
		return nil, err
	}
	if p.have, err = entriesOf(ctx, v.repo(), filepath.Join(v.at.AdminDir, "index")); err != nil {
		return nil, err
	}
	p.lookAtIndex()
	if len(p.write)+len(p.remove)+len(p.set)+len(v.Assumed)+len(v.Skipped) == 0 {
		return p.left, nil
	}
	return p.left, p.put(ctx)
}

// readPieces lists the paths that the landing moves and HEAD has as before it.
func (p *puttingBack) readPieces(ctx context.Context) error {
	all := map[string]*piece{}
	of := func(c objects.Change) *piece {
		if all[c.Name] == nil {
			all[c.Name] = &piece{Change: c, index: [2]string{c.OldEntry(), c.OldEntry()}, file: [2]string{c.OldEntry(), c.OldEntry()}}
		}
		return all[c.Name]
	}
	for _, side := range []struct {
		from, to string
		each     func(one *piece, entry string)
	}{
		{p.From, p.To, func(one *piece, entry string) { one.index[1], one.file[1] = entry, entry }},
		{p.From, p.Was, func(one *piece, entry string) { one.file[0] = entry }},
		{p.To, p.Becomes, func(one *piece, entry string) { one.file[1] = entry }},
	} {
		if side.from == side.to {
			continue
		}
		changes, err := objects.Between(ctx, p.m.objects.Home(), side.from, side.to)
		if err != nil {
			return err
		}
		for _, c := range changes {
			side.each(of(c), c.Entry())
		}
	}
	if head := p.m.head(ctx, p.at.Checkout); head != p.From && head != "" {
		changes, err := objects.Between(ctx, p.m.objects.Home(), p.From, head)
		if err != nil {
			return err
		}
		for _, c := range changes {
			delete(all, c.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p.pieces = append(p.pieces, *all[name])
	}
	return nil
}

// lookAtFiles decides which files to write and to remove, and which are somebody else's.
func (p *puttingBack) lookAtFiles(ctx context.Context) error {
	before, err := p.filesAs(ctx, func(one piece) string { return one.file[0] })
	if err != nil {
		return err
	}
	mine := map[string]bool{}
	for _, entry := range []func(piece) string{
		func(one piece) string { return one.file[1] }, func(one piece) string { return one.index[0] }, func(one piece) string { return one.index[1] },
	} {
		as, err := p.filesAs(ctx, entry)
		if err != nil {
			return err
		}
		for name, is := range as {
			mine[name] = mine[name] || is
		}
	}
	gone := map[string]bool{}
	for _, goes := range []bool{true, false} { // files to remove make room for those to write
		for _, one := range p.pieces {
			name, away := one.Name, p.away[one.Name]
			if (one.file[0] == "" || away) != goes || before[name] && !away || away && !disk.IsFile(filepath.Join(p.at.Path, name)) {
				continue
			}
			own, err := p.own(ctx, one, mine[name] || before[name], gone)
			switch {
			case err != nil:
				return err
			case !own:
				p.left = append(p.left, name)
			case goes:
				p.remove, gone[name] = append(p.remove, name), true
			default:
				p.write = append(p.write, name)
			}
		}
	}
	return nil
}

// own reports whether a path holds nothing of somebody else's, once the files in gone are removed: no
// file, one that equals a side's, or the beginning of one, from a git that was interrupted while it wrote.
func (p *puttingBack) own(ctx context.Context, one piece, equal bool, gone map[string]bool) (bool, error) {
	at, err := obstacleAt(p.at.Path, one.Name, gone)
	if at == "" || err != nil {
		return err == nil, err
	}
	if at == one.Name && equal {
		return true, nil
	}
	file := filepath.Join(p.at.Path, one.Name)
	if info, err := os.Lstat(file); at != one.Name || err != nil || !info.Mode().IsRegular() {
		return false, nil //nolint:nilerr // something else is there
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	for _, entry := range one.file {
		fields := strings.Fields(entry) // mode, id, stage
		if !strings.HasPrefix(entry, "100") {
			continue
		}
		var whole string
		if err := git.Unasked(func(options []string) (err error) {
			whole, err = p.repo().Output(ctx, append(options, "cat-file", "--filters", "--path="+one.Name, fields[1])...)
			return err
		}); err != nil {
			return false, err
		}
		if strings.HasPrefix(whole, string(have)) {
			return true, nil
		}
	}
	return false, nil
}

// lookAtIndex decides which index entries to set.
func (p *puttingBack) lookAtIndex() {
	for _, one := range p.pieces {
		have, conflict := p.have[one.Name], false
		for _, stage := range []string{"1", "2", "3"} {
			conflict = conflict || p.have[one.Name+"\x00"+stage] != ""
		}
		if !conflict && have != one.index[0] && (have == one.index[1] || have == one.file[0] || have == one.file[1]) {
			p.set = append(p.set, one)
			p.have[one.Name] = one.index[0]
		}
	}
}

// put writes and removes the files, sets the index entries, and gives those their bits.
func (p *puttingBack) put(ctx context.Context) (err error) {
	if err := p.at.dropStaleLock(); err != nil {
		return err
	}
	if err := p.at.awaitIndex(ctx); err != nil {
		return err
	}
	done := p.at.useIndex()
	defer func() { done(err) }()
	if err := p.removeFiles(); err != nil {
		return err
	}
	if err := p.writeFiles(ctx); err != nil {
		return err
	}
	repo := p.repo()
	if len(p.set) > 0 {
		entries := map[string]string{}
		changes := make([]objects.Change, len(p.set))
		for i, one := range p.set {
			changes[i], entries[one.Name] = one.Change, one.index[0]
		}
		input := indexInfo(changes, func(c objects.Change) string { return entries[c.Name] })
		if _, err := repo.Input(ctx, input, plainly("update-index", "-z", "--index-info")...); err != nil {
			return err
		}
	}
	there := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return p.have[name] == "" })
	}
	if err := snapshot.UpdateBits(ctx, repo, "--assume-unchanged", there(p.Assumed), "--skip-worktree", there(p.Skipped)); err != nil {
		return err
	}
	return snapshot.Refresh(ctx, repo)
}

func (p *puttingBack) removeFiles() error {
	root, err := os.OpenRoot(p.at.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range p.remove {
		if err := removeIn(root, name); err != nil {
			return err
		}
	}
	return nil
}

// removeIn removes a file, and the folders above it that are empty then.
func removeIn(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for above := path.Dir(name); above != "." && root.Remove(above) == nil; {
		above = path.Dir(above)
	}
	return nil
}

func (p *puttingBack) writeFiles(ctx context.Context) error {
	if len(p.write) == 0 {
		return nil
	}
	file, repo, err := p.indexWith(ctx, func(one piece) string { return one.file[0] })
	if err != nil {
		return err
	}
	defer snapshot.DropIndex(file)
	return writeOut(ctx, repo, p.write)
}

// writeOut has git write files from the index of repo over what is there.
func writeOut(ctx context.Context, repo git.Repo, names []string) error {
	return git.Unasked(func(options []string) error {
		_, err := repo.Input(ctx, git.NulTerminated(names), git.Quietly(append(options, "checkout-index", "-f", "-z", "--stdin")...)...)
		return err
	})
}

// strangers says that files are neither as before a landing nor as after it.
func strangers(names []string) string {
	const most = 20
	named := strings.Join(names[:min(len(names), most)], ", ")
	switch {
	case len(names) == 1:
		return named + " is neither as before nor as after it, and stays as it is"
	case len(names) > most:
		named += ", ..."
	}
	return named + " are neither as before nor as after it, and stay as they are"
}

func (p *puttingBack) filesAs(ctx context.Context, entry func(piece) string) (map[string]bool, error) {
	changes, of := p.changes(entry)
	return filesAs(ctx, p.repo(), filepath.Join(p.at.AdminDir, "index"), p.dir, p.at.Path, changes, of)
}

func (p *puttingBack) indexWith(ctx context.Context, entry func(piece) string) (string, git.Repo, error) {
	changes, of := p.changes(entry)
	return indexWith(ctx, p.repo(), filepath.Join(p.at.AdminDir, "index"), p.dir, changes, of)
}

// changes returns the pieces as changes, and a function that returns the entry of each.
func (p *puttingBack) changes(entry func(piece) string) ([]objects.Change, func(objects.Change) string) {
	changes, entries := make([]objects.Change, len(p.pieces)), map[string]string{}
	for i, one := range p.pieces {
		changes[i], entries[one.Name] = one.Change, entry(one)
	}
	return changes, func(c objects.Change) string { return entries[c.Name] }
}
