package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"
)

func TestMapIsTheFileAsItWas(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "file"), new([64]byte)
	if content, err := Map(path, owner); content != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %q, %v", content, err)
	}
	for _, text := range []string{"", "first\n", "second\n"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		content, err := Map(path, owner)
		if err != nil || string(content) != text {
			t.Fatalf("%q, %v, want %q", content, err, text)
		}
		if err := Replace(path, []byte("another\n")); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		if string(content) != text {
			t.Errorf("%q after the file was replaced, want %q", content, text)
		}
	}
	runtime.KeepAlive(owner)
}
