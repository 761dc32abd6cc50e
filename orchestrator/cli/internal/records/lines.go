// Package records reads what CLIs write down of their conversations.
package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"paw/orchestrator/cli"
)

// EachLine decodes the JSON objects of a file, one per line, until visit returns false. Lines that are torn or are no
// such object are skipped: a crash leaves a half line, and other versions write lines this one does not know.
func EachLine[T any](path string, visit func(T) bool) error {
	_, err := CountLines(path, visit)
	return err
}

// CountLines is EachLine, and counts the lines that were skipped.
func CountLines[T any](path string, visit func(T) bool) (skipped int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	reader := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var value T
			if json.Unmarshal(line, &value) != nil {
				skipped++
			} else if !visit(value) {
				return skipped, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return skipped, nil
		}
		if err != nil {
			return skipped, err
		}
	}
}

// Lookup looks up a conversation that is one file, and whose id is burnt until the user has said something. missing is why there
// is none without the file.
func Lookup[T any](file, missing string, said func(T) bool) (cli.Conversation, error) {
	used, err := Holds(file, said)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Conversation{Reason: missing}, nil
	case err != nil:
		return cli.Conversation{}, err
	case !used:
		return cli.Conversation{Found: true, Transcript: file, NewID: true, Reason: "the conversation has no message yet"}, nil
	}
	return cli.Conversation{Found: true, Resumable: true, Transcript: file}, nil
}

// Holds reports whether some line of a file satisfies match.
func Holds[T any](path string, match func(T) bool) (bool, error) {
	found := false
	err := EachLine(path, func(value T) bool {
		found = match(value)
		return !found
	})
	return found, err
}
