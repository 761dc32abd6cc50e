package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Of the programs that were installed from here the one that came last is taken, whatever the versions are called.
func TestProbeFindsTheNewestPaw(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "a home")
	bin := filepath.Join(home, installedIn)
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, version := range []string{"1.10.0", "1.9.0", "2.0.0"} { // the newest first
		path := filepath.Join(bin, "paw-"+version)
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	sh := exec.Command("sh")
	sh.Env, sh.Stdin = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "SHELL=/bin/sh"}, strings.NewReader("repo=\n"+probe)
	out, err := sh.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(found(string(out)).Paws, func(path string) bool { return !strings.HasPrefix(path, bin) })
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
