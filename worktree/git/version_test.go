package git

import "testing"

func TestVersionsAreReadAsGitPrintsThem(t *testing.T) {
	for _, c := range []struct {
		out          string
		major, minor int
	}{
		{"git version 2.39.5", 2, 39},
		{"git version 2.34.0", 2, 34},
		{"git version 2.33.8", 2, 33},
		{"git version 2.50.1 (Apple Git-155)", 2, 50},
		{"git version 3.0.rc1", 3, 0},
		{"git version 1.99.9", 1, 99},
	} {
		major, minor, _, err := parseVersion(c.out)
		if err != nil || major != c.major || minor != c.minor {
			t.Errorf("%s: got %d.%d, %v", c.out, major, minor, err)
		}
	}
	if _, _, _, err := parseVersion("hello"); err == nil {
		t.Error("nonsense was taken for a version")
	}
}
