package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVersionAsJSON(t *testing.T) {
	_, plain, _ := typed("version")
	code, out, _ := typed("version", "--json")
	var said versionJSON
	if err := json.Unmarshal([]byte(out), &said); err != nil || code != 0 || said.Version != 1 || "paw "+said.Paw != strings.TrimSpace(plain) {
		t.Errorf("%d, %q: %v; without --json %q", code, out, err, plain)
	}
}

// A command without arguments completes to nothing, not to files.
func TestNothingCompletesToFiles(t *testing.T) {
	for _, line := range []string{"next", "clis", "doctor", "version", "ui", "add", "start", "spawn", "done", "forecast"} {
		if _, out, _ := typed("__complete", line, ""); !strings.HasSuffix(strings.TrimSpace(out), ":4") {
			t.Errorf("paw %s: %q", line, out)
		}
	}
}
