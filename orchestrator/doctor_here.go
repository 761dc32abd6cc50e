package orchestrator

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
)

// examineNames looks which programs the shell calls for `paw` and for `git paw`: another program of that name may be first.
func (f *findings) examineNames(h *app.App) {
	for _, name := range []string{"git-paw", "paw"} {
		typed := strings.ReplaceAll(name, "-", " ")
		path, err := cli.LookPath(name, h.Env)
		switch {
		case err != nil && name == "paw":
			f.fine("paw is not on your PATH: agents cannot run paw spawn, wait and done", fmt.Sprintf("export PATH=%s:$PATH", errs.Quote(filepath.Dir(h.Executable))))
		case err != nil: // git paw is for those who like it
		case sameFile(path, h.Executable):
			f.fine(fmt.Sprintf("%s is %s", typed, path))
		default:
			f.fine(fmt.Sprintf("%s is %s, which is another program than this paw (%s)", typed, path, h.Executable), errs.Quote(path)+" --version")
		}
	}
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// examineTools says which git and tmux there are, or what is wrong with them.
func (f *findings) examineTools(ctx context.Context, h *app.App) {
	versions, err := h.ToolVersions(ctx)
	if err != nil {
		f.wrong(err)
		return
	}
	f.fine(versions)
}

// hooksSeen says of how many running agents the CLI's hooks have reported, "" where none has any.
func hooksSeen(st observe.SessionStatus) string {
	seen, all := 0, 0
	for _, a := range st.Agents {
		if a.Hooks != observe.HooksNone {
			all++
		}
		if a.Hooks == observe.HooksSeen {
			seen++
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("; hooks of %d of %s have reported", seen, errs.Counted(all, "running agent"))
}

// diskUsed says how much paw's own files take: records, turn logs and what belongs to launches.
func diskUsed(h *app.App) string {
	data, state := filepath.Dir(h.Paths.SessionsDir), h.Paths.StateDir
	total := folderSize(data)
	if state != data {
		total += folderSize(state)
	}
	return fmt.Sprintf("%.1f MiB are in %s and %s", float64(total)/(1<<20), data, state)
}

// folderSize is how many bytes the files in a folder have. What cannot be read is not counted.
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
