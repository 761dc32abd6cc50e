package session

// Descendants is not known on macOS, where a process cannot read the
// environment of another (docs/limitations.md).
func (h Holder) Descendants(string) []int { return nil }
