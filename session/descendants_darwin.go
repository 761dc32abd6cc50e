package session

// Processes is empty on macOS, where a process cannot read the environment of
// another (docs/limitations.md).
type Processes map[int][]int

// ListProcesses is not known on macOS.
func ListProcesses() Processes { return nil }

// Descendants is not known on macOS.
func (h Holder) Descendants(Processes, string) []int { return nil }
