package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// childMode makes the test binary play one of the processes in children instead of running tests.
const childMode = "PAW_TURN_TEST_CHILD"

var children = map[string]func(args []string) error{
	"append": childAppend,
	"start":  childStart,
	"full":   childFull,
}

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		if err := children[mode](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// clock counts seconds from a fixed time, in a zone that is not UTC.
func clock() func() time.Time {
	at := time.Date(2026, 11, 21, 4, 0, 0, 5_000_000, time.FixedZone("CET", 3600))
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

func second(n int) time.Time { return time.Date(2026, 11, 21, 3, 0, n, 5_000_000, time.UTC) }

func testDir(t *testing.T) Dir {
	t.Helper()
	return Dir{Path: filepath.Join(t.TempDir(), "turns", "demo", "claude")}
}

// started returns a turn in progress.
func started(t *testing.T, d Dir, number int) *Turn {
	t.Helper()
	tr := New(d, number, clock())
	if err := tr.Start(Start{Type: TypePrompt, Prompt: "do it"}); err != nil {
		t.Fatal(err)
	}
	return tr
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
