package session

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Processes is always empty on macOS, where a process cannot read the environment of another
// (docs/internals/edge-cases.md).
type Processes map[int][]int

// ListProcesses returns nothing on macOS.
func ListProcesses() Processes { return nil }

// Launched returns the CLI while it lives. The processes that the CLI has started are not known on
// macOS.
func (h Holder) Launched(Processes) []int {
	if h = h.cli(); !h.Alive() {
		return nil
	}
	return []int{h.PID}
}

// carries is always false on macOS.
func carries(int, []byte) bool { return false }

// Survivors returns nothing on macOS.
func (h Holder) Survivors(Processes, string) []int { return nil }

// Environ is not supported on macOS.
func Environ(int) ([]string, error) { return nil, errors.ErrUnsupported }

// Members returns -leader while the process group of leader has a living process, for use with
// kill(2). Other process groups are not known on macOS (docs/internals/edge-cases.md).
func Members(leader int) []int {
	if unix.Kill(-leader, 0) != nil {
		return nil
	}
	return []int{-leader}
}

// Nested is always false on macOS (docs/internals/edge-cases.md).
func (h Holder) Nested(string, int) bool { return false }
