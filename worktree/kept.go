package worktree

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func keptIndex(dir string) string { return filepath.Join(dir, "index") }

// clockMargin is how much older than the begin of a snapshot a change must be for
// the next one to believe what this one recorded. It covers clocks that tick
// slowly, and file systems that keep whole or every second second only.
const clockMargin = 2 * time.Second

// keepScratch hands the scratch index on to the next snapshot.
func (l *look) keepScratch(dir string) {
	then := l.began.Add(-clockMargin)
	if os.Chtimes(l.scratch, then, then) == nil {
		_ = os.Rename(l.scratch, keptIndex(dir))
	}
}

// keptFor is the index that an earlier snapshot has left, unless the settings
// that decide how content is converted have changed since.
func (m Manager) keptFor(admin, dir string, idSize int) index {
	kept, err := loadIndex(keptIndex(dir), idSize)
	if err != nil {
		return index{}
	}
	for _, name := range []string{
		filepath.Join(m.Repository.CommonDir, "config"), filepath.Join(admin, "config.worktree"),
		filepath.Join(m.Repository.CommonDir, "info", "attributes"),
	} {
		if info, err := os.Stat(name); err == nil && !info.ModTime().Before(kept.time) {
			return index{}
		}
	}
	return kept
}

// scratchAge is when the scratch files of a paw that was killed are litter.
const scratchAge = time.Hour

func sweepScratch(dir string) {
	old, err := filepath.Glob(filepath.Join(dir, scratchPattern))
	if err != nil {
		return
	}
	for _, name := range old {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > scratchAge {
			os.Remove(name)
		}
	}
}

// known is the entry that an earlier snapshot made of the same file: no part of
// what git records of a file differs. It is sure when the file was last changed
// well before that snapshot, so that a change in the same instant cannot hide.
func (r *recording) known(name string, info fs.FileInfo) (known *entry, sure bool) {
	i, found := slices.BinarySearchFunc(r.kept.entries, name, func(e entry, name string) int { return strings.Compare(e.name, name) })
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !found || !ok {
		return nil, false
	}
	e := r.kept.entries[i]
	isLink := info.Mode()&fs.ModeSymlink != 0
	if e.stage() != 0 || e.gitlink || isLink != (e.mode() == modeLink) ||
		uint32(stat.Ino) != e.field(inoAt) || stat.Uid != e.field(uidAt) || stat.Gid != e.field(gidAt) || uint32(stat.Size) != e.field(sizeAt) {
		return nil, false
	}
	mtime, ctime := statTimes(stat)
	if !e.hasTime(mtimeAt, mtime) || !e.hasTime(ctimeAt, ctime) {
		return nil, false
	}
	plain := e.plain()
	return &plain, mtime.Before(r.kept.time) && ctime.Before(r.kept.time)
}

// modeLink is how an index says that an entry is a symbolic link.
const modeLink = 0o120000

// hasTime compares one of the times of an entry; some builds of git keep whole
// seconds only.
func (e entry) hasTime(at int, t time.Time) bool {
	nanoseconds := e.field(at + 4)
	return e.field(at) == uint32(t.Unix()) && (nanoseconds == 0 || nanoseconds == uint32(t.Nanosecond()))
}

// attributesChanged reports whether the files that decide how content is
// converted differ from those under which the kept entries were made.
func (r *recording) attributesChanged() bool {
	isAttributes := func(name string) bool { return path.Base(name) == ".gitattributes" }
	if slices.ContainsFunc(r.missing, func(f file) bool { return isAttributes(f.name) }) {
		return true
	}
	only := func(all []entry) []entry {
		return slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return !isAttributes(e.name) })
	}
	return !slices.EqualFunc(only(r.merged()), only(r.kept.entries), entry.same)
}
