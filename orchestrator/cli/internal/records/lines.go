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
	"slices"
	"sort"
	"time"

	"paw/orchestrator/cli"
	"paw/session/turn"
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

// IsOpen reports whether there is a turn whose end is to be found.
func IsOpen(last *turn.Record) bool { return last != nil && last.State == turn.InProgress }

// LastUses orders conversations by the last change of their files.
type LastUses []lastUse

type lastUse struct {
	id string
	at time.Time
}

// Add takes a conversation; one whose file is gone by now is left out.
func (u *LastUses) Add(id, file string) {
	if info, err := os.Stat(file); err == nil {
		*u = append(*u, lastUse{id, info.ModTime()})
	}
}

// IDs returns the conversations, the one used last at the end.
func (u LastUses) IDs() []string {
	sort.SliceStable(u, func(i, j int) bool { return u[i].at.Before(u[j].at) })
	ids := make([]string, len(u))
	for i, use := range u {
		ids[i] = use.id
	}
	return ids
}

// BeganHere reports whether a conversation that began at that time can be the agent's. CLIs count milliseconds.
func BeganHere(s cli.Spec, at time.Time) bool {
	return !at.Before(s.Since.Truncate(time.Millisecond))
}

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

// BranchNode is one record of a conversation that its CLI keeps as a tree: after a rewind the next record follows an
// older one.
type BranchNode struct {
	ID, Parent string
	Prompt     bool // the user wrote it; the first one has no parent
}

// LastBranch gives the records that lead to the one at index leaf, the first one first, as indexes into nodes, which are
// in the order of their file. Records need not stand behind their parents there. One whose parent is not known, such as
// one behind a torn line, follows the one before it.
//
// What hangs off the branch without a prompt belongs to it: results of tools that ran at the same time, or an answer that
// a crash cut off. A prompt begins what a rewind has taken back.
func LastBranch(nodes []BranchNode, leaf int) []int {
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
	var order []int
	for _, i := range slices.Backward(path) {
		// Depth first, children in their order.
		for stack := []int{i}; len(stack) > 0; {
			next := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			order = append(order, next)
			for _, child := range slices.Backward(children[next]) {
				stack = append(stack, child)
			}
			children[next] = nil
		}
	}
	return order
}

// parentsOf gives the index of each record's parent, -1 for none.
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
