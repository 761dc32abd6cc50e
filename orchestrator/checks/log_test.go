package checks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogOfAnOutputWithoutEnd(t *testing.T) {
	for _, size := range []int{0, 100, logHead + logTail, logHead + 2*logTail, logHead + 2*logTail + 1, 9 * logHead} {
		path := filepath.Join(t.TempDir(), "new", "log")
		l, err := createLog(path)
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for i := 0; all.Len() < size; i++ {
			line := fmt.Sprintf("line %d\n", i)
			line = line[:min(len(line), size-all.Len())]
			all.WriteString(line)
			if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
				t.Fatal(n, err)
			}
		}
		l.Close()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if size <= logHead+2*logTail {
			if !bytes.Equal(text, all.Bytes()) {
				t.Errorf("%d bytes: the log has other ones, %d", size, len(text))
			}
			continue
		}
		var gone int
		head, rest := string(text[:logHead]), string(text[logHead:])
		said, tail, found := strings.Cut(strings.TrimPrefix(rest, "\n"), "\n")
		if _, err := fmt.Sscanf(said, "... %d bytes are left out here ...", &gone); err != nil || !found {
			t.Fatalf("%d bytes: it says %q", size, said)
		}
		if whole := all.String(); head != whole[:logHead] || !strings.HasSuffix(whole, tail) || len(tail) < logTail || logHead+gone+len(tail) != size || len(text) > logHead+3*logTail {
			t.Errorf("%d bytes: %d are left out, %d of the end are there", size, gone, len(tail))
		}
	}
}
