package session

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
