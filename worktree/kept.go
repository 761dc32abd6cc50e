package worktree

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/disk"
)

// keptState is the record that a snapshot of a worktree leaves for the next one, beside the index with the recorded files.
type keptState struct {
	Index string    `json:"index"` // hash of the kept index
	Real  string    `json:"real"`  // hash of the worktree's own index that the kept one was made from
	Began time.Time `json:"began"` // of the snapshot

	// What the kept index has otherwise than the real one: the paths that it has of files, and those that it does not have. Each
	// comes with the entry of the real index, "" for none.
	Files byFileName `json:"files"`
	Gone  byFileName `json:"gone,omitempty"`
	Seen  string     `json:"seen,omitempty"` // what was known of these files, "" when not all of them were recorded

	Tree   string `json:"tree,omitempty"`
	Head   string `json:"head,omitempty"` // parent of the commit
	Commit string `json:"commit,omitempty"`
}

// keptIndex is the index that the last snapshot of a worktree has recorded files in, in the folder for its scratch files.
func keptIndex(dir string) string { return filepath.Join(dir, "index") }

// keptFile is the file with the keptState.
func keptFile(dir string) string { return filepath.Join(dir, "kept") }

// Margins are how much older than the begin of a snapshot a change must be for the next one to believe what this one recorded.
// The long one is for file systems that keep whole or every second second only, the other one for clocks that tick slowly.
const (
	clockMargin = 2 * time.Second
	tickMargin  = 100 * time.Millisecond
)

// recent reports whether a change at a time of a file system may have come after a snapshot began to look.
func recent(change, began time.Time) bool {
	margin := clockMargin
	if change.Nanosecond() != 0 {
		margin = tickMargin
	}
	return !change.Before(began.Add(-margin))
}

// keep hands the scratch index on to the next snapshot.
func (r *recording) keep(tree, commit string) {
	dir := filepath.Dir(r.real.file)
	s := keptState{
		Real: r.real.hash, Began: r.began, Tree: tree, Head: r.head, Commit: commit, Files: byFileName{}, Gone: byFileName{},
	}
	if tree == "" && len(r.base.Files) > 0 { // some of these may not have been compared again
		s.Began = r.base.Began
		maps.Copy(s.Files, r.base.Files)
		maps.Copy(s.Gone, r.base.Gone)
	}
	for name, isFile := range r.own {
		delete(s.Files, name)
		delete(s.Gone, name)
		if isFile {
			s.Files[name] = r.tracked[name].cacheinfo()
		} else {
			s.Gone[name] = r.tracked[name].cacheinfo()
		}
	}
	if tree != "" && len(r.notSaved) == len(r.special) {
		s.Seen = r.seen()
	}
	if s.Index = indexHash(r.scratch); s.Index == "" || s.Real == "" || os.Rename(r.scratch, keptIndex(dir)) != nil {
		return
	}
	if content, err := json.Marshal(s); err == nil {
		_ = replaceKept(dir, keptFile(dir), content)
	}
}

// replaceKept makes a file with all its content or not at all.
func replaceKept(dir, name string, content []byte) error {
	file := newScratchIndex(dir)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	return os.Rename(file, name)
}

// keptBy reads what an earlier snapshot has left, and makes scratch a link to its index. It is nil when there is none or when
// the settings that decide how content is converted have changed since. Git replaces an index when it writes, hence a link will
// do.
func (snapshots Snapshots) keptBy(admin, dir, scratch string) *keptState {
	content, err := disk.ReadFile(keptFile(dir))
	var s keptState
	if err != nil || json.Unmarshal(content, &s) != nil {
		return nil
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
		dropIndex(scratch)
		return nil
	}
	return &s
}

// forgetKept removes what an earlier snapshot has left: it may name objects that are gone.
func forgetKept(dir string) {
	os.Remove(keptFile(dir))
	os.Remove(keptIndex(dir))
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

const scratchPrefix = "paw-scratch-"

// abandonedAge is the age from which a scratch folder counts as left by a paw that was killed.
const abandonedAge = 24 * time.Hour

// newScratch makes a folder for indexes that nobody else sees, in the git directory of a worktree, and deletes those that
// a paw which was killed has left there. The caller deletes it.
func newScratch(admin string) (dir string, err error) {
	sweepOld(admin, scratchPrefix, abandonedAge)
	return os.MkdirTemp(admin, scratchPrefix)
}
