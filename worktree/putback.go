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

// side has the entries of paths before or after a landing, as objects.EntryOf writes them. Index and files
// differ where the user has had uncommitted files of an agent.
type side struct{ index, file map[string]string }

// puttingBack finds out what is put back in a checkout.
type puttingBack struct {
	*move
	dir           string
	paths         []objects.Change // that the landing moves and HEAD has as before it, by name
	before, after side
	have          map[string]string // entries of the index, by path
	away          map[string]bool   // paths that a bit keeps out of the checkout

	write, remove []string         // files
	set           []objects.Change // paths whose index entries are set
	left          []string         // files that are neither as before nor as after
}

// putBack ends a landing that was cut before the branch moved: at each path that HEAD has as before the
// landing, a file or index entry that is as after it becomes what it was. A missing file, or the
// beginning of one, does, too: git makes a file anew in order to write it. Other files stay, and putBack
// returns their names.
func (v *move) putBack(ctx context.Context) (left []string, err error) {
	if err := v.at.awaitIndex(ctx); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(v.at.AdminDir, snapshot.ScratchPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := &puttingBack{
		move: v, dir: dir, away: map[string]bool{},
		before: side{map[string]string{}, map[string]string{}}, after: side{map[string]string{}, map[string]string{}},
	}
	for _, name := range v.Skipped {
		p.away[name] = true
	}
	if err := p.readPaths(ctx); err != nil {
		return nil, err
	}
	if err := p.lookAtFiles(ctx); err != nil {
		return nil, err
	}
	if p.have, err = entriesOf(ctx, v.repo(), p.index()); err != nil {
		return nil, err
	}
	p.lookAtIndex()
	if len(p.write)+len(p.remove)+len(p.set)+len(v.Skipped) == 0 {
		return p.left, nil
	}
	return p.left, p.put(ctx)
}

func (p *puttingBack) index() string { return filepath.Join(p.at.AdminDir, "index") }

// in returns a function that finds the entry of a path.
func in(entries map[string]string) func(objects.Change) string {
	return func(c objects.Change) string { return entries[c.Name] }
}

// readPaths lists the paths that the landing moves and HEAD has as before it.
func (p *puttingBack) readPaths(ctx context.Context) error {
	all := map[string]objects.Change{}
	for _, one := range []struct {
		from, to string
		differ   []map[string]string
	}{
		{p.From, p.To, []map[string]string{p.after.index, p.after.file}},
		{p.From, p.Was, []map[string]string{p.before.file}},
		{p.To, p.Becomes, []map[string]string{p.after.file}},
	} {
		changes, err := objects.Between(ctx, p.m.objects.Home(), one.from, one.to)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if _, known := all[c.Name]; !known {
				all[c.Name] = c
				for _, entries := range []map[string]string{p.before.index, p.before.file, p.after.index, p.after.file} {
					entries[c.Name] = c.OldEntry()
				}
			}
			for _, entries := range one.differ {
				entries[c.Name] = c.Entry()
			}
		}
	}
	if head := p.m.head(ctx, p.at.Checkout); head != "" {
		changes, err := objects.Between(ctx, p.m.objects.Home(), p.From, head)
		if err != nil {
			return err
		}
		for _, c := range changes {
			delete(all, c.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p.paths = append(p.paths, all[name])
	}
	return nil
}

// lookAtFiles decides which files to write and to remove, and which are somebody else's.
func (p *puttingBack) lookAtFiles(ctx context.Context) error {
	before, err := p.filesAs(ctx, p.before.file)
	if err != nil {
		return err
	}
	mine := maps.Clone(before)
	for _, entries := range []map[string]string{p.after.file, p.before.index, p.after.index} {
		as, err := p.filesAs(ctx, entries)
		if err != nil {
			return err
		}
		for name, is := range as {
			mine[name] = mine[name] || is
		}
	}
	gone := map[string]bool{}
	for _, goes := range []bool{true, false} { // files to remove make room for those to write
		for _, c := range p.paths {
			name, away := c.Name, p.away[c.Name]
			if (p.before.file[name] == "" || away) != goes || before[name] && !away || away && !disk.IsFile(filepath.Join(p.at.Path, name)) {
				continue
			}
			own, err := p.own(ctx, name, mine[name], gone)
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

// filesAs reports at which paths the file is the one that entries has.
func (p *puttingBack) filesAs(ctx context.Context, entries map[string]string) (map[string]bool, error) {
	return filesAs(ctx, p.repo(), p.index(), p.dir, p.at.Path, p.paths, in(entries))
}

// own reports whether a path holds nothing of somebody else's, once the files in gone are removed: no
// file, one that equals a side's, or the beginning of one, from a git that was interrupted while it wrote.
func (p *puttingBack) own(ctx context.Context, name string, equal bool, gone map[string]bool) (bool, error) {
	at, err := obstacleAt(p.at.Path, name, gone)
	if at == "" || err != nil {
		return err == nil, err
	}
	if at == name && equal {
		return true, nil
	}
	file := filepath.Join(p.at.Path, name)
	if info, err := os.Lstat(file); at != name || err != nil || !info.Mode().IsRegular() {
		return false, nil //nolint:nilerr // something else is there
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	for _, entry := range []string{p.before.file[name], p.after.file[name]} {
		fields := strings.Fields(entry) // mode, id, stage
		if !strings.HasPrefix(entry, "100") {
			continue
		}
		var whole string
		if err := git.Unasked(func(options []string) (err error) {
			whole, err = p.repo().Output(ctx, append(options, "cat-file", "--filters", "--path="+name, fields[1])...)
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
	for _, c := range p.paths {
		name, have, was := c.Name, p.have[c.Name], p.before.index[c.Name]
		conflict := slices.ContainsFunc([]string{"1", "2", "3"}, func(stage string) bool { return p.have[name+"\x00"+stage] != "" })
		if !conflict && have != was && slices.Contains([]string{p.after.index[name], p.before.file[name], p.after.file[name]}, have) {
			p.set, p.have[name] = append(p.set, c), was
		}
	}
}

// put writes and removes the files, sets the index entries, and gives those their bits.
func (p *puttingBack) put(ctx context.Context) (err error) {
	if err := removeAll(p.at.Path, p.remove); err != nil {
		return err
	}
	if err := p.writeFiles(ctx); err != nil {
		return err
	}
	repo := p.repo()
	if len(p.set) > 0 {
		if _, err := repo.Input(ctx, indexInfo(p.set, in(p.before.index)), plainly("update-index", "-z", "--index-info")...); err != nil {
			return err
		}
	}
	there := slices.DeleteFunc(slices.Clone(p.Skipped), func(name string) bool { return p.have[name] == "" })
	if len(there) > 0 {
		if _, err := repo.Input(ctx, git.NulTerminated(there), git.Quietly("update-index", "--skip-worktree", "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return snapshot.Refresh(ctx, repo)
}

// removeAll removes files of a checkout, and the folders above them that are empty then.
func removeAll(top string, names []string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for above := path.Dir(name); above != "." && root.Remove(above) == nil; {
			above = path.Dir(above)
		}
	}
	return nil
}

func (p *puttingBack) writeFiles(ctx context.Context) error {
	if len(p.write) == 0 {
		return nil
	}
	file, repo, err := indexWith(ctx, p.repo(), p.index(), p.dir, p.paths, in(p.before.file))
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
