package worktree

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onSharing mounts a file system whose files can share blocks, or skips the test.
func onSharing(t *testing.T, kind string) string {
	t.Helper()
	image, at := filepath.Join(t.TempDir(), "image"), t.TempDir()
	file, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if err := os.Truncate(image, 512<<20); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"mkfs." + kind, "-q", image}, {"mount", "-o", "loop", image, at}} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no %s here: %s: %v %s", kind, command[0], err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return at
}

func TestSetUpSharesBlocks(t *testing.T) {
	for _, kind := range []string{"xfs", "btrfs"} {
		t.Run(kind, func(t *testing.T) {
			at := onSharing(t, kind)
			w := newWorldAt(t, filepath.Join(at, "repo"))
			w.write(".gitignore", "target\n")
			w.commit("ignore")
			p := w.made("agent")
			writeFile(t, filepath.Join(w.Dir, "target/big"), string(bytes.Repeat([]byte("paw "), 4<<20)))
			wantProblems(t, w.setUp(p, []string{"target"}, nil))
			out, err := exec.CommandContext(t.Context(), "filefrag", "-s", "-v", filepath.Join(p.Path, "target/big")).CombinedOutput()
			if err != nil {
				t.Skipf("filefrag: %v %s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				if extent := strings.Contains(line, ".."); extent && !strings.Contains(line, "shared") {
					t.Errorf("not shared: %s", line)
				}
			}
			if !strings.Contains(string(out), "shared") {
				t.Errorf("nothing is shared:\n%s", out)
			}
		})
	}
}
