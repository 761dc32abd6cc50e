package patch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/cmd/paw/ui/patch"
)

const diff = "\n\x1b[1mdiff --git a/docs/a.md b/docs/b.md\x1b[m\nsimilarity index 90%\nrename from docs/a.md\nrename to docs/b.md\nindex 1..2 100644\n--- a/docs/a.md\n+++ b/docs/b.md\n" +
	"@@ -1,2 +1,2 @@\n one\n--- two\n+++ b/two\ndiff --git a/docs/new.md b/docs/new.md\nnew file mode 100644\nindex 0..3\n--- /dev/null\n+++ b/docs/new.md\n@@ -0,0 +1 @@\n+index 1\n" +
	"diff --git a/x b/y b/x b/y\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/x b/y\t\n+++ b/x b/y\t\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n"

func TestRead(t *testing.T) {
	t.Parallel()
	p := patch.Read(diff)
	files := []patch.File{{"docs/b.md", "from docs/a.md", 1, 1}, {"docs/new.md", "new", 1, 0}, {"x b/y", "mode 100755", 1, 1}, {"p.png", "", 0, 0}}
	if d := cmp.Diff(files, p.Files); d != "" {
		t.Error(d)
	}
	raw := strings.Split(diff, "\n")
	var shown []string
	for _, line := range p.Lines {
		text := line.Text
		if line.Kind == patch.Head {
			if text = p.Files[line.File].Name; !strings.Contains(raw[line.Raw], "diff --git ") {
				t.Errorf("line %d is no head: %q", line.Raw, raw[line.Raw])
			}
		} else if raw[line.Raw] != text {
			t.Errorf("line %d is %q, not %q", line.Raw, raw[line.Raw], text)
		}
		shown = append(shown, text)
	}
	want := []string{"", "docs/b.md", "@@ -1,2 +1,2 @@", " one", "--- two", "+++ b/two", "docs/new.md", "@@ -0,0 +1 @@", "+index 1", "x b/y", "@@ -1 +1 @@", "-a", "+b", "p.png", "Binary files a/p.png and b/p.png differ"}
	if d := cmp.Diff(want, shown); d != "" {
		t.Error(d)
	}
	two := "diff --git api/a b/x.go web/a b/x.go\n--- api/a b/x.go\n+++ web/a b/x.go\n@@ -1 +1 @@\n-a\ndiff --git api/y web/y\ndeleted file mode 100644\n--- api/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\ndiff --git api/p.png web/p.png\nBinary files api/p.png and web/p.png differ\n"
	if d := cmp.Diff([]patch.File{{"a b/x.go", "", 0, 1}, {"y", "deleted", 0, 1}, {"p.png", "", 0, 0}}, patch.Read(two).Files); d != "" {
		t.Errorf("of two agents: %s", d)
	}
	tree := []patch.Row{{"docs/", -1}, {"  b.md", 0}, {"  new.md", 1}, {"x b/", -1}, {"  y", 2}, {"p.png", 3}}
	if d := cmp.Diff(tree, p.Tree()); d != "" {
		t.Error(d)
	}
}
