package worktree

import (
	"encoding/json"
	"testing"

	"paw/config/disk"

	"github.com/google/go-cmp/cmp"
)

// oddNames are names that a file may have and JSON does not keep, and one that looks like the form they are written in.
var oddNames = []string{"plain", "ü", "bad\xff", "\xff\xfe", "\ufffd", "base64:YWJj", "base64:", "new\nline", ""}

func TestNamesOfFilesSurviveJSON(t *testing.T) {
	in := disk.FileNames(oddNames)
	content, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out disk.FileNames
	if err := json.Unmarshal(content, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
}

// A snapshot goes on from what the one before has left. A file whose name is not UTF-8 stays the same file.
func TestSnapshotsKeepNamesThatAreNotUTF8(t *testing.T) {
	w := newTurns(t, "")
	writeFile(t, w.path("bad\xff"), "one\n")
	w.git("-C", w.path(""), "add", "-A")
	w.git("-C", w.path(""), "commit", "-qm", "odd")
	before := len(w.files(w.git("-C", w.path(""), "rev-parse", "HEAD")))
	writeFile(t, w.path("bad\xff"), "two\n")
	writeFile(t, w.path("new\xfe"), "new\n")
	for range 3 {
		files := w.files(w.look().Commit)
		if len(files) != before+1 || files["bad\xff"] != "two\n" || files["new\xfe"] != "new\n" {
			t.Fatalf("%d files: %q", len(files), files)
		}
		w.git("-C", w.path(""), "commit", "-q", "--allow-empty", "-m", "HEAD moves")
	}
}
