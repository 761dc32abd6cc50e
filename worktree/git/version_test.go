package git

import (
	"context"
	"testing"
)

func TestVersionsAreReadAsGitPrintsThem(t *testing.T) {
	for _, c := range []struct {
		out          string
		major, minor int
		enough       bool
	}{
		{"git version 2.39.5", 2, 39, true},
		{"git version 2.34.0", 2, 34, true},
		{"git version 2.33.8", 2, 33, false},
		{"git version 2.50.1 (Apple Git-155)", 2, 50, true},
		{"git version 3.0.rc1", 3, 0, true},
		{"git version 1.99.9", 1, 99, false},
	} {
		major, minor, _, err := parseVersion(c.out)
		if err != nil || major != c.major || minor != c.minor || atLeast(major, minor) != c.enough {
			t.Errorf("%s: got %d.%d, %v", c.out, major, minor, err)
		}
	}
	if _, _, _, err := parseVersion("hello"); err == nil {
		t.Error("nonsense was taken for a version")
	}
}

func TestInstalledGitIsEnough(t *testing.T) {
	if err := Require(context.Background()); err != nil {
		t.Error(err)
	}
}
