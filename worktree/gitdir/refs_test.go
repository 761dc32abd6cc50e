package gitdir

import (
	"fmt"
	"os"
	"path/filepath"
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
	dir := t.TempDir()
	write := func(content string) *Refs {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return &Refs{CommonDir: dir}
	}
	refs := write(content)
	for n := range 600 {
		want := ""
		if n%2 == 0 {
			want = oid(n / 2)
		}
		if got := refs.Resolve(fmt.Sprintf("refs/tags/%03d", n)); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	for n := range len(content) { // git replaces the file as a whole, but who knows
		if got := write(content[:n]).Resolve("refs/tags/298"); got != "" && got != oid(149) {
			t.Fatalf("cut at %d: got %q", n, got)
		}
	}
}
