package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"paw/config/disk"
)

// TestHeldBy: a conversation is open in the process that holds the lock of the CLI's own file, and in none once that has ended.
func TestHeldBy(t *testing.T) {
	l := newLab(t)
	const id = "11111111-2222-4333-8444-555555555555"
	for name, path := range map[string]string{
		"codex": ".codex/thread-writer-locks/" + id + ".lock", "copilot": ".copilot/session-state/" + id + "/inuse.77.hold", "qwen": ".qwen/" + id,
	} {
		file, err := os.Open(l.put(filepath.FromSlash(path), ""))
		if err != nil {
			t.Fatal(err)
		}
		if pid := get(t, name).HeldBy(l.with(id)); pid != 0 {
			t.Errorf("%s: open in %d, before anybody has locked it", name, pid)
		}
		if locked, err := disk.TryLock(file); !locked || err != nil {
			t.Fatal(locked, err)
		}
		if pid := get(t, name).HeldBy(l.with(id)); (pid == os.Getpid()) != (name != "qwen") {
			t.Errorf("%s: open in %d, not in %d", name, pid, os.Getpid())
		}
		file.Close()
		if pid := get(t, name).HeldBy(l.with(id)); pid != 0 {
			t.Errorf("%s: still open in %d", name, pid)
		}
	}
}
