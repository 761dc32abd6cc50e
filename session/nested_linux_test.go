package session

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNested runs scripts that call each other, as agents, wrappers and tools do, and asks the last of them, which waits, of
// which run it is.
func TestNested(t *testing.T) {
	dir := t.TempDir()
	script := func(name, body string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n:\n"), 0o700); err != nil { //nolint:gosec // it has to run
			t.Fatal(err)
		}
		return path
	}
	const wait = "echo $$; read line"
	real := script("cli.js", fmt.Sprintf(`case $1 in
-p) %s ;;
--tool) sh -c '%s/cli -p "summarise"; :' ;;
--bare) %s/cli -p summarise ;;
--other) sh -c '%s; :' ;;
*) %s ;;
esac`, wait, dir, dir, wait, wait))
	if err := os.Symlink(real, filepath.Join(dir, "cli")); err != nil {
		t.Fatal(err)
	}
	script("wrapper", fmt.Sprintf(`%s/cli "$@"`, dir))
	script("npx", fmt.Sprintf(`sh -c '%s/cli "$@"; :' sh "$@"`, dir))
	script("chooser", fmt.Sprintf(`%s/cli --offline "$@"`, dir))
	script("picker", fmt.Sprintf(`shift; %s/cli "$@"`, dir))
	for _, c := range []struct {
		name   string
		argv   []string
		nested bool
	}{
		{"the CLI itself", []string{"cli"}, false},
		{"a tool of it", []string{"cli", "--other"}, false},
		{"once more, by a shell", []string{"cli", "--tool"}, true},
		{"once more, without a shell", []string{"cli", "--bare"}, true},
		{"by a wrapper", []string{"wrapper"}, false},
		{"by a wrapper, with arguments", []string{"wrapper", "-p", "x"}, false},
		{"by a wrapper, a tool of it", []string{"wrapper", "--other"}, false},
		{"by a wrapper, once more", []string{"wrapper", "--tool"}, true},
		{"by a wrapper with a shell between", []string{"npx", "-p", "x"}, false},
		{"by a wrapper with a shell between, once more", []string{"npx", "--tool"}, true},
		{"by a wrapper that adds an option", []string{"chooser", "-q", "x"}, false},
		{"by a wrapper with options of its own", []string{"picker", "--pick", "-p", "x"}, false},
		{"by a wrapper with options of its own, once more", []string{"picker", "--pick", "--tool"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := exec.CommandContext(t.Context(), filepath.Join(dir, c.argv[0]), c.argv[1:]...)
			input, err := run.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := run.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			var last int
			if _, err := fmt.Fscan(output, &last); err != nil {
				t.Fatal(err)
			}
			h := Holder{PID: run.Process.Pid}
			for _, program := range []string{"cli", "wrapper"} {
				if strings.HasPrefix(c.name, "by") == (program == "wrapper") || program == "cli" {
					if got := h.Nested(program, last); got != c.nested {
						t.Errorf("%s: %v, want %v", program, got, c.nested)
					}
				}
			}
			if h.Nested("cli", os.Getpid()) {
				t.Error("a process that is no descendant")
			}
			input.Close()
			_ = run.Wait()
		})
	}
}
