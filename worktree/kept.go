package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/disk"
)

// keptIndex is what the last snapshot of a worktree has recorded, in the folder for its scratch files.
func keptIndex(dir string) string { return filepath.Join(dir, "index") }

// keptCommit is the file with the commit of the last snapshot.
func keptCommit(dir string) string { return filepath.Join(dir, "commit") }

// clockMargin is how much older than the begin of a snapshot a change must be for the next one to believe what this one
// recorded. It covers clocks that tick slowly, and file systems that keep whole or every second second only.
const clockMargin = 2 * time.Second

// keepScratch hands the scratch index on to the next snapshot.
func (l *look) keepScratch(dir string) {
	then := l.began.Add(-clockMargin)
	if l.scratch != l.real.file && os.Chtimes(l.scratch, then, then) == nil {
		_ = os.Rename(l.scratch, keptIndex(dir))
	}
}

// keptFor is the index that an earlier snapshot has left, "" when there is none or when the settings that decide how
// content is converted have changed since.
func (m Manager) keptFor(admin, dir string) string {
	kept, err := os.Stat(keptIndex(dir))
	if err != nil {
		return ""
	}
	for _, name := range []string{
		filepath.Join(m.Repository.CommonDir, "config"), filepath.Join(admin, "config.worktree"),
		filepath.Join(m.Repository.CommonDir, "info", "attributes"),
	} {
		if info, err := os.Stat(name); err == nil && !info.ModTime().Before(kept.ModTime()) {
			return ""
		}
	}
	return keptIndex(dir)
}

// forgetKept removes what an earlier snapshot has left: it may name objects that are gone.
func forgetKept(dir string) {
	os.Remove(keptIndex(dir))
	os.Remove(keptCommit(dir))
}

// keepCommit writes down the commit of a tree with HEAD as its parent.
func keepCommit(dir, tree, head, commit string) {
	file := newScratchIndex(dir)
	if os.WriteFile(file, []byte(tree+" "+head+" "+commit), 0o600) == nil {
		_ = os.Rename(file, keptCommit(dir))
	}
}

// commitKept is the commit that an earlier snapshot made of the same tree with the same parent, "" when there is none.
func commitKept(dir, tree, head string) string {
	content, err := disk.ReadFile(keptCommit(dir))
	commit, same := strings.CutPrefix(string(content), tree+" "+head+" ")
	if err != nil || !same || tree == "" || !isOID(commit) {
		return ""
	}
	return commit
}

// scratchAge is when the scratch files of a paw that was killed are litter.
const scratchAge = time.Hour

func sweepScratch(dir string) { sweepOld(dir, scratchIndexPrefix, scratchAge) }

// sweepOld removes what has a name that begins with a prefix and is older than that.
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
