package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// canTrace reports whether strace is there and may trace, which containers often forbid.
func (w *world) canTrace() bool {
	return exec.CommandContext(w.ctx, "strace", "-f", "-b", "execve", "true").Run() == nil
}

// countSyncs runs a job like count, and also counts calls of fsync: those of paw itself and, where the job's budget says so,
// those of the programs that paw starts.
func (w *world) countSyncs(j *job, argv ...string) {
	trace := filepath.Join(w.dir, "syncs")
	strace := []string{"strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", trace}
	if !j.budget.counts.deep {
		strace = append(strace, "-b", "execve")
	}
	w.counted(j, func() { w.spawn(true, append(strace, argv...)...) })
	text := string(must(os.ReadFile(trace)))
	n := strings.Count(text, "fsync(") + strings.Count(text, "fdatasync(")
	j.syncs = &n
}
