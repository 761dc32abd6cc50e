package snapshot

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/disk"
)

// keptState describes the index that a snapshot of a worktree keeps for the next snapshot. The
// state is stored beside that index.
type keptState struct {
	Index string    `json:"index"` // hash of the kept index
	Real  string    `json:"real"`  // hash of the worktree's own index that the kept one was made from
	Began time.Time `json:"began"` // start of the snapshot

	// Files and Gone are the paths in which the kept index differs from the real one: files that
	// the kept index has, and files that it lacks. A path maps to the entry of the real index, ""
	// for none.
	Files disk.ByFileName `json:"files"`
	Gone  disk.ByFileName `json:"gone,omitempty"`
	Seen  string          `json:"seen,omitempty"` // imprint of these files' stat data, "" if not all were recorded

	Tree   string `json:"tree,omitempty"`
	Head   string `json:"head,omitempty"` // first parent of Commit: HEAD when the snapshot was taken
	Commit string `json:"commit,omitempty"`
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
	dir := filepath.Dir(r.Real.File)
	s := keptState{
		Real: r.Real.hash, Began: r.Began, Tree: tree, Head: r.Head, Commit: commit, Files: disk.ByFileName{}, Gone: disk.ByFileName{},
	}
	if tree == "" && len(r.base.Files) > 0 { // Some of these files may not have been compared again.
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
	if s.Index = indexHash(r.Scratch); s.Index == "" || s.Real == "" || os.Rename(r.Scratch, keptIndex(dir)) != nil {
		return
	}
	if content, err := json.Marshal(s); err == nil {
		_ = replaceKept(dir, keptFile(dir), content)
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
func (snapshots Taker) keptBy(admin, dir, scratch string) *keptState {
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

func sweepScratch(dir string) { sweepOld(dir, scratchIndexPrefix, ScratchAge) }

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

// NewScratch makes a folder for private indexes in a worktree's git directory, and removes those
// left by killed paws. The caller removes it.
func NewScratch(admin string) (dir string, err error) {
	sweepOld(admin, ScratchPrefix, abandonedAge)
	return os.MkdirTemp(admin, ScratchPrefix)
}
