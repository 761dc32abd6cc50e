package checks

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// What a log keeps of an output without end: its begin, and its last part.
const (
	logHead = 1 << 20 // bytes
	logTail = 1 << 20
)

// log is the file with the output of a command. Once it is long, its middle is left out.
type log struct {
	file *os.File // not embedded: its ReadFrom would go past Write
	size int64    // bytes of the file
	gone int64    // bytes that were left out
	head int64    // end of what stays, with the line that says how much was left out
}

func createLog(path string) (*log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	return &log{file: file, head: logHead}, err
}

func (l *log) Name() string { return l.file.Name() }

func (l *log) Close() { _ = l.file.Close() }

// Write adds output.
func (l *log) Write(b []byte) (int, error) {
	n, err := l.file.Write(b)
	if l.size += int64(n); err == nil && l.size > l.head+2*logTail {
		err = l.shorten()
	}
	return n, err
}

// shorten leaves out what is between the begin and the last part.
func (l *log) shorten() error {
	tail := make([]byte, logTail)
	if _, err := l.file.ReadAt(tail, l.size-logTail); err != nil {
		return err
	}
	l.gone += l.size - logTail - l.head
	line := fmt.Sprintf("\n... %d bytes are left out here ...\n", l.gone)
	if err := l.file.Truncate(logHead); err != nil {
		return err
	}
	if _, err := l.file.Seek(logHead, io.SeekStart); err != nil {
		return err
	}
	l.head = logHead + int64(len(line))
	n, err := l.file.Write(append([]byte(line), tail...))
	l.size = logHead + int64(n)
	return err
}
