package orchestrator

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/worktree"
)

// Finding is one result of doctor.
type Finding struct {
	OK    bool     `json:"ok"`
	Text  string   `json:"text"`
	Hints []string `json:"hints"`
}

// findings collects what doctor has found so far.
type findings []Finding

// fine adds a finding that is no problem; hints say what the user may still do about it.
func (f *findings) fine(text string, hints ...string) {
	*f = append(*f, Finding{OK: true, Text: text, Hints: append([]string{}, hints...)})
}

// wrong adds a finding that the user has to act on.
func (f *findings) wrong(err error) {
	*f = append(*f, Finding{Text: err.Error(), Hints: append([]string{}, errs.HintsOf(err)...)})
}

// examineTools checks git and tmux.
func (f *findings) examineTools(ctx context.Context, h *app.App) {
	versions, err := h.ToolVersions(ctx)
	if err != nil {
		f.wrong(err)
		return
	}
	f.fine(versions)
}

// examineNames checks which programs `paw` and `git paw` run: PATH may have another program first.
func (f *findings) examineNames(h *app.App) {
	for _, name := range []string{"git-paw", "paw"} {
		typed := strings.ReplaceAll(name, "-", " ")
		path, err := cli.LookPath(name, h.Env)
		switch {
		case err != nil && name == "paw":
			f.fine("paw is not on your PATH: agents cannot run paw spawn, wait and done", fmt.Sprintf("export PATH=%s:$PATH", errs.Quote(filepath.Dir(h.Executable))))
		case err != nil: // git-paw is optional
		case sameFile(path, h.Executable):
			f.fine(fmt.Sprintf("%s is %s", typed, path))
		default:
			f.fine(fmt.Sprintf("%s is %s, which is another program than this paw (%s)", typed, path, h.Executable), errs.Quote(path)+" --version")
		}
	}
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// writable checks that the folders needed for every change can be written or made, and have space.
// It makes none.
func writable(h *app.App) error {
	folders := []string{h.Paths.SessionsDir, h.Paths.LocksDir(), h.Paths.LaunchDir()}
	folder, err := app.Unwritable(folders...)
	for i := 0; err == nil && i < len(folders); i++ {
		folder, err = folders[i], app.Full(folders[i])
	}
	if err != nil {
		return errs.New(errs.Failed, "%s: cannot be written: %w", folder, err).Hint("df -h %s", errs.Quote(app.Nearest(folder))).Hint("ls -ld %s", errs.Quote(app.Nearest(folder)))
	}
	return nil
}

// sweepPatience is how long the deletion of removed directories in the background may take.
const sweepPatience = time.Hour

// keptTrash says how much is kept in the trash folder of a repository, and where that is much the
// line that deletes it: only the user can decide when. It is "" for nothing.
func keptTrash(m *worktree.Manager) (text string, line []string) {
	kept, dir := m.Trash().Kept(sweepPatience)
	if len(kept) == 0 {
		return "", nil
	}
	bytes := folderSize(dir)
	if bytes > muchTrash {
		line = []string{"rm -rf " + errs.Quote(dir)}
	}
	what := fmt.Sprintf("%d removed directories are", len(kept))
	if len(kept) == 1 {
		what = "1 removed directory is"
	}
	return fmt.Sprintf("%s kept in %s (%.1f MiB)", what, dir, float64(bytes)/(1<<20)), line
}

// Numbers above which doctor names what grows. A git command of the user packs loose objects above
// manyObjects by itself; git counts one folder of 256, too.
const (
	manyObjects = 6700
	manyRefs    = 5000
	manyTasks   = 200
	manyLocks   = 1000
	muchTrash   = 64 << 20
)

// grows reports what has grown beyond many, with the line that tidies it.
func (f *findings) grows(n, many int, what, line string) {
	if n > many {
		f.fine(fmt.Sprintf("%d %s", n, what), line)
	}
}

// filesIn counts the files in a folder.
func filesIn(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// diskUsed says how much space paw's own files take: records, turn logs and files of launches.
func diskUsed(h *app.App) string {
	data, state := filepath.Dir(h.Paths.SessionsDir), h.Paths.StateDir
	total := folderSize(data)
	if state != data {
		total += folderSize(state)
	}
	return fmt.Sprintf("%.1f MiB are in %s and %s", float64(total)/(1<<20), data, state)
}

// folderSize returns the bytes of all files in a folder, as far as they can be read.
func folderSize(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not counted
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
