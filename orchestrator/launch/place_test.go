package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// The launcher is a hidden command that anybody can call: it touches no file but that of its own launch.
func TestTheLauncherTouchesNoOtherFile(t *testing.T) {
	for _, name := range []string{
		"notes.txt", "one-1.json", "launch/shop/one-2.json", "launch/other/one-1.json", "other/shop/one-1.json", "launch/shop/one-1.json/x",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, err := RunAgent("shop", "one", 1, path, nil); code == 0 || err == nil {
			t.Errorf("%s: code %d, %v", name, code, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "mine\n" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(files) != 1 {
			t.Errorf("%s: beside it are %v", name, files)
		}
	}
}
