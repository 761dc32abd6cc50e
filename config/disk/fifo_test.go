package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestReadFileOfAFIFO: opening a FIFO without a writer does not block. paw status hung on a FIFO in
// the place of a transcript.
func TestReadFileOfAFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		content, err := ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		read <- string(content)
	}()
	select {
	case content := <-read:
		if content != "" {
			t.Errorf("got %q", content)
		}
	case <-time.After(10 * time.Second):
		if writer, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			writer.Close() // lets the reader end
		}
		t.Fatal("waits for a writer")
	}
}
