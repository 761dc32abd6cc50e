package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"paw/config"
)

func TestAProgramIsAskedOnce(t *testing.T) {
	h := &App{Paths: config.Paths{StateDir: filepath.Join(t.TempDir(), "state")}}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	install := func(content string) {
		t.Helper()
		file := filepath.Join(bin, "tool")
		_ = os.Remove(file)
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	old := errors.New("too old")
	ask := func(want int, answer, result error) {
		t.Helper()
		if err := h.once("tool", func() error { asked++; return answer }); !errors.Is(err, result) {
			t.Errorf("got %v, want %v", err, result)
		}
		if asked != want {
			t.Errorf("asked %d times, want %d", asked, want)
		}
	}
	ask(1, old, old) // there is none
	ask(2, nil, nil)
	ask(3, nil, nil)
	install("one")
	ask(4, old, old)
	ask(5, nil, nil)
	ask(5, old, nil)
	install("other")
	ask(6, old, old)
	ask(7, nil, nil)
	ask(7, old, nil)
	t.Setenv("PATH", t.TempDir())
	ask(8, old, old)
}
