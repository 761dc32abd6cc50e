package records

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecentLines reads the end of a file, and never a part of a line.
func TestRecentLines(t *testing.T) {
	t.Parallel()
	const lines = 5000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "{\"n\":%d,\"pad\":%q}\n", i, strings.Repeat("x", 90))
	}
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, recent := range []bool{false, true} {
		var numbers []int
		skipped, err := CountLines(path, recent, func(line struct{ N int }) bool {
			numbers = append(numbers, line.N)
			return true
		})
		if err != nil || skipped != 0 {
			t.Fatalf("recent %v: skipped %d lines, %v", recent, skipped, err)
		}
		if first := numbers[0]; numbers[len(numbers)-1] != lines-1 || recent != (first > 0) || recent && len(numbers) < 500 {
			t.Errorf("recent %v: lines %d to %d", recent, first, numbers[len(numbers)-1])
		}
	}
}
