package turn

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Asked tells whether the CLI was asked for something that has the mark: in the prompt of a turn, or in what joined one.
// It looks from the last turn back to the first in which nothing has happened since. What the CLI answered does not count.
func (d Dir) Asked(mark string, since time.Time) (bool, error) {
	files, err := d.files()
	if err != nil {
		return false, err
	}
	for _, f := range slices.Backward(files) {
		data, err := os.ReadFile(filepath.Join(d.Path, f.name))
		if errors.Is(err, os.ErrNotExist) {
			continue // purged meanwhile
		}
		if err != nil {
			return false, err
		}
		asked, last := asked(data, mark)
		if asked {
			return true, nil
		}
		if !last.IsZero() && last.Before(since) {
			return false, nil
		}
	}
	return false, nil
}

// asked looks for the mark in a log, and for the time of its last event.
func asked(data []byte, mark string) (found bool, last time.Time) {
	for raw := range bytes.Lines(data) {
		for _, p := range pieces(bytes.TrimRight(raw, "\n")) {
			last = p.line.At
			text := p.line.Description
			if p.line.Event == eventStart {
				text = p.line.Prompt
			}
			found = found || strings.Contains(string(text), mark)
		}
	}
	return found, last
}
