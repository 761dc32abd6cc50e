package hosting

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A gh that does not answer is ended with what it has started, by its limit and by Ctrl-C; one that leaves a process
// behind has answered.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ name, script, says string }{
		{"hangs", "exec sleep 1000", "gh pr view: took longer than 300ms"},
		{"its child hangs", "sleep 1000 & echo $! >child; wait", "gh pr view: took longer than 300ms"},
		{"its child stays", "sleep 1000 & echo $! >child; echo '{}'", ""},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := Program{Name: "gh", Path: filepath.Join(dir, "gh"), Dir: dir, limit: 300 * time.Millisecond}
			if err := os.WriteFile(p.Path, []byte("#!/bin/sh\n"+one.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if one.says == "" {
				p.limit = 0
			}
			out, err := p.run(t.Context(), "", "pr", "view", "7")
			if one.says == "" && (err != nil || out != "{}\n") || one.says != "" && (err == nil || err.Error() != one.says) {
				t.Errorf("run: %q, %v", out, err)
			}
			if one.says != "" {
				p.limit = 0
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				if _, err = p.run(ctx, "", "pr", "view", "7"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("run after Ctrl-C: %v", err)
				}
			}
			text, err := os.ReadFile(filepath.Join(dir, "child"))
			if err != nil {
				return
			}
			child, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if one.says == "" {
				_ = syscall.Kill(child, syscall.SIGKILL)
			}
			for syscall.Kill(child, 0) == nil {
				if stat, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
					break
				}
				select {
				case <-t.Context().Done():
					t.Fatal("its child runs on")
				default:
				}
			}
		})
	}
}
