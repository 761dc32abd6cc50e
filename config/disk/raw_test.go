package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadFileReadsAll: a file of /proc has the size 0, whatever its content.
func TestReadFileReadsAll(t *testing.T) {
	folder := t.TempDir()
	for _, size := range []int{0, 1, 511, 512, 513, 1 << 20} {
		path, want := filepath.Join(folder, "file"), strings.Repeat("x", size)
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	const process = "/proc/self/status"
	if want, err := os.ReadFile(process); err == nil {
		if got, err := ReadFile(process); err != nil || len(got) < len(want)/2 {
			t.Errorf("%s: %d bytes, %v, want about %d", process, len(got), err, len(want))
		}
	}
}
