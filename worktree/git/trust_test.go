package git

import (
	"fmt"
	"testing"
)

// TestTrust: git's own line for a repository of another user is found in what git says.
func TestTrust(t *testing.T) {
	said := "fatal: detected dubious ownership in repository at '/a b'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory '/a b'\n"
	if got := Trust(fmt.Errorf("start: %w", &Error{Stderr: said, ExitCode: 128})); got != "git config --global --add safe.directory '/a b'" {
		t.Errorf("the line is %q", got)
	}
	if got := Trust(&Error{Stderr: "fatal: not a git repository\n", ExitCode: 128}); got != "" {
		t.Errorf("another error has %q", got)
	}
}
