package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// canTrace reports whether strace is installed and permitted, which it is not in many containers.
func (w *world) canTrace() bool {
	return exec.CommandContext(w.ctx, "strace", "-f", "-b", "execve", "true").Run() == nil
}

// trace runs a job like count, and also counts its calls of fsync and the files of the world that
// it opens. The programs that paw starts count only if the job's budget is deep.
func (w *world) trace(j *job, argv ...string) {
	trace := filepath.Join(w.dir, "trace")
	strace := []string{"strace", "-f", "-qq", "-z", "-s", "4096", "-e", "trace=fsync,fdatasync,openat", "-e", "signal=none", "-o", trace}
	if !j.budget.counts.deep {
		strace = append(strace, "-b", "execve")
	}
	w.counted(j, func() { w.spawn(true, append(strace, argv...)...) })
	text := string(must(os.ReadFile(trace)))
	syncs := strings.Count(text, "fsync(") + strings.Count(text, "fdatasync(")
	opens := strings.Count(text, `openat(AT_FDCWD, "`+w.dir+"/")
	j.syncs, j.opens = &syncs, &opens
}
