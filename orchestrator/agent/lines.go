package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// eachLine decodes the JSON objects of a file, one per line, until visit returns false. Lines that are torn or are no
// such object are skipped: a crash leaves a half line, and other versions write lines this one does not know.
func eachLine[T any](path string, visit func(T) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	reader := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var value T
			if json.Unmarshal(line, &value) == nil && !visit(value) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// holds tells whether some line of a file satisfies match.
func holds[T any](path string, match func(T) bool) (bool, error) {
	found := false
	err := eachLine(path, func(value T) bool {
		found = match(value)
		return !found
	})
	return found, err
}
