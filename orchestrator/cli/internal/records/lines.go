// Package records reads the files in which CLIs record their conversations.
package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/session/turn"
)

// EachLine decodes the JSON objects of a file, one per line, until visit returns false. Other lines
// are skipped: a crash leaves a torn line, and other versions of a CLI write lines of other forms.
func EachLine[T any](path string, visit func(T) bool) error {
	_, err := CountLines(path, false, visit)
	return err
}

// recentSize is how many bytes at the end of a file are read where only the newest lines are wanted.
const recentSize = 128 << 10

// CountLines is like EachLine, and counts the lines that were skipped. With recent, it only reads the
// lines that begin in the last recentSize bytes.
func CountLines[T any](path string, recent bool, visit func(T) bool) (skipped int, err error) {
	from := int64(0)
	if info, err := os.Stat(path); recent && err == nil {
		from = max(0, info.Size()-recentSize)
	}
	err = LinesFrom(path, from, func(line []byte) bool {
		var value T
		if json.Unmarshal(line, &value) != nil {
			skipped++
			return true
		}
		return visit(value)
	})
	return skipped, err
}

// Lines calls visit with the lines of a file, without their ends, until visit returns false.
func Lines(path string, visit func(line []byte) bool) error { return LinesFrom(path, 0, visit) }

// LinesFrom is like Lines for the lines that begin behind that many bytes.
func LinesFrom(path string, from int64, visit func(line []byte) bool) error {
	file, err := disk.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := readers.Get().(*bufio.Reader)
	defer readers.Put(reader)
	reader.Reset(file)
	if from > 0 {
		if _, err := file.Seek(from-1, io.SeekStart); err != nil {
			return err
		}
		if _, err := reader.ReadBytes('\n'); err != nil { // the line that begins before
			return nil
		}
	}
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && !visit(line) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// pieceSize is how many bytes of a file are read at first.
const pieceSize = 8 << 10

// A look at many agents reads a file of each into the same memory.
var (
	readers    = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, pieceSize) }}
	lastPieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}
)

// Lookup looks up a conversation that is one file and whose id cannot be used again before it has a
// prompt. said recognizes a prompt; missing is the reason when there is no file.
func Lookup[T any](file, missing string, said func(T) bool) (cli.Conversation, error) {
	used := false
	err := EachLine(file, func(line T) bool {
		used = said(line)
		return !used
	})
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

// IsOpen reports whether last is an open turn, whose end is to be found.
func IsOpen(last *turn.Record) bool { return last != nil && last.State == turn.InProgress }

// ByUse returns the files that match a pattern, the one that was changed last at the end.
func ByUse(pattern string) ([]string, error) {
	files, err := filepath.Glob(pattern)
	changed := map[string]time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			changed[file] = info.ModTime()
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return changed[a].Compare(changed[b]) })
	return files, err
}

// BeganHere reports whether a conversation that began at that time can be the agent's. CLIs record
// milliseconds.
func BeganHere(s cli.Spec, at time.Time) bool {
	return !at.Before(s.Since.Truncate(time.Millisecond))
}

// tailLimit is how many bytes of a transcript's end are read. The end of a turn is in the last
// lines.
const tailLimit = 8 << 20

// EachBack decodes the JSON objects of a file from the last line to the first, like LinesBack.
// Other lines are skipped.
func EachBack[T any](path string, visit func(T) bool) error {
	return LinesBack(path, func(line []byte) bool {
		var value T
		return json.Unmarshal(line, &value) != nil || visit(value)
	})
}

// LinesBack calls visit with the lines of a file from the last to the first, without their ends,
// until visit returns false or tailLimit bytes were read. A torn last line is included. The memory
// of a line is used again after visit.
func LinesBack(path string, visit func(line []byte) bool) error {
	file, err := disk.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end := info.Size()
	least := max(0, end-tailLimit)
	first := lastPieces.Get().(*[pieceSize]byte)
	defer lastPieces.Put(first)
	memory := first[:0]
	var rest []byte // end of a line whose beginning is not read yet
	for piece := int64(pieceSize); end > least; piece, memory = min(2*piece, 1<<20), nil {
		start := max(least, end-piece)
		chunk := slices.Grow(memory, int(end-start)+len(rest))[:end-start]
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

// BranchNode is a record of a conversation that its CLI keeps as a tree: after a rewind the next
// record follows an older one.
type BranchNode struct {
	ID, Parent string
	Prompt     bool // the user wrote the record; the first prompt has no parent
}

// LastBranch returns the records that lead to the one at index leaf, the first one first. all are in
// the order of the file, where a record may precede its parent. A record with an unknown parent, such
// as one after a torn line, follows the record before it.
//
// Side branches without a prompt belong to the result: results of tools that ran at the same time,
// or an answer that a crash cut off. A side branch that begins with a prompt was taken back by a
// rewind.
func LastBranch[T any](all []T, leaf int, node func(T) BranchNode) []T {
	nodes := make([]BranchNode, len(all))
	for i, one := range all {
		nodes[i] = node(one)
	}
	parents := parentsOf(nodes)
	on := make([]bool, len(nodes))
	var path []int
	for i := leaf; i >= 0 && !on[i]; i = parents[i] {
		on[i] = true
		path = append(path, i)
	}
	children := make([][]int, len(nodes))
	for i, parent := range parents {
		if parent >= 0 && !on[i] && !nodes[i].Prompt {
			children[parent] = append(children[parent], i)
		}
	}
	var branch []T
	for _, i := range slices.Backward(path) {
		// depth first, children in their order
		for stack := []int{i}; len(stack) > 0; {
			next := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			branch = append(branch, all[next])
			for _, child := range slices.Backward(children[next]) {
				stack = append(stack, child)
			}
			children[next] = nil
		}
	}
	return branch
}

// parentsOf returns the index of each record's parent, -1 for none.
func parentsOf(nodes []BranchNode) []int {
	at := map[string]int{}
	for i, n := range nodes {
		at[n.ID] = i
	}
	parents := make([]int, len(nodes))
	for i, n := range nodes {
		parent, known := at[n.Parent]
		switch {
		case n.Parent == "" && n.Prompt:
			parents[i] = -1
		case known:
			parents[i] = parent
		default:
			parents[i] = i - 1
		}
	}
	return parents
}
