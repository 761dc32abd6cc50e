package session

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Processes is empty on macOS, where a process cannot read the environment of
// another (docs/limitations.md).
type Processes map[int][]int

// ListProcesses is not known on macOS.
func ListProcesses() Processes { return nil }

// Launched returns the CLI as long as it lives; what it started is not known
// on macOS.
func (h Holder) Launched(Processes) []int {
	if h = h.cli(); !h.Alive() {
		return nil
	}
	return []int{h.PID}
}

// carries is not known on macOS.
func carries(int, []byte) bool { return false }

// Survivors is not known on macOS.
func (h Holder) Survivors(Processes, string) []int { return nil }

// Environ has no answer on this system.
func Environ(int) ([]string, error) { return nil, errors.ErrUnsupported }

// Members tells on macOS whether the process group of leader has a living process: those of other groups are not known
// (docs/limitations.md).
func Members(leader int) []int {
	if unix.Kill(-leader, 0) != nil {
		return nil
	}
	return []int{-leader}
}

// Nested is not known on macOS (docs/limitations.md).
func (h Holder) Nested(string, int) bool { return false }
