package gitdir

import (
	"fmt"
	"testing"
)

// TestEveryPackedRefIsFound looks for each of many refs, and for those between them, in a file with lines for the commits
// of annotated tags, also at its end.
func TestEveryPackedRefIsFound(t *testing.T) {
	content := "# pack-refs with: peeled fully-peeled sorted \n"
	oid := func(i int) string { return fmt.Sprintf("%040x", i+1) }
	for i := range 300 {
		content += fmt.Sprintf("%s refs/tags/%03d\n", oid(i), i*2)
		if i%3 == 2 {
			content += "^" + oid(1000) + "\n"
		}
	}
	for n := range 600 {
		want := ""
		if n%2 == 0 {
			want = oid(n / 2)
		}
		if got := packedLine([]byte(content), fmt.Sprintf("refs/tags/%03d", n)); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	for n := range len(content) { // git replaces the file as a whole, but who knows
		packedLine([]byte(content[:n]), "refs/tags/299")
	}
}
