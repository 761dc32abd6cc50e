package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadFileReadsWhatOsReadFileDoes(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 511, 512, 513, 100_000} {
		path, want := filepath.Join(dir, "file"), bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "file", "below"), dir} {
		_, want := os.ReadFile(path)
		_, err := ReadFile(path)
		var failed *fs.PathError
		if !errors.As(err, &failed) || failed.Path != path || !errors.Is(err, errors.Unwrap(want)) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadFile(dir); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a folder: %v", err)
	}
}

// TestALockThatCannotBeTakenIsAnError tells a lock that another process holds from one that the file system refuses, as one without locks
// does: nobody waits for that.
func TestALockThatCannotBeTakenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if locked, err := TryLock(held); !locked || err != nil {
		t.Fatalf("got %v, %v", locked, err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := TryLock(other); locked || err != nil {
		t.Errorf("held by another: got %v, %v", locked, err)
	}
	other.Close()
	if locked, err := TryLock(other); locked || err == nil {
		t.Errorf("refused: got %v, %v", locked, err)
	}
}
