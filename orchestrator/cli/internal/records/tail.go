package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// tailLimit bounds how much of a transcript's end is read, in bytes. What ends a turn is its last line or nearly so.
const tailLimit = 8 << 20

// EachBack decodes the JSON objects of a file from the last line to the first, like LinesBack. Lines that are torn or are no
// such object are skipped.
func EachBack[T any](path string, visit func(T) bool) error {
	return LinesBack(path, func(line []byte) bool {
		var value T
		return json.Unmarshal(line, &value) != nil || visit(value)
	})
}

// LinesBack gives the lines of a file from the last to the first, without their ends, until visit returns false or
// tailLimit bytes were read. A torn last line comes too.
func LinesBack(path string, visit func(line []byte) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end := info.Size()
	least := max(0, end-tailLimit)
	var rest []byte // of the line whose beginning is not read yet
	for piece := int64(32 << 10); end > least; piece = min(2*piece, 1<<20) {
		start := max(least, end-piece)
		chunk := make([]byte, end-start, end-start+int64(len(rest)))
		if _, err := file.ReadAt(chunk, start); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		chunk = append(chunk, rest...)
		for {
			newline := bytes.LastIndexByte(chunk, '\n')
			if newline < 0 {
				break
			}
			if line := bytes.TrimSpace(chunk[newline+1:]); len(line) > 0 && !visit(line) {
				return nil
			}
			chunk = chunk[:newline]
		}
		rest, end = chunk, start
	}
	if line := bytes.TrimSpace(rest); least == 0 && len(line) > 0 {
		visit(line)
	}
	return nil
}
