package session

// Nested is not known on macOS (docs/limitations.md).
func (h Holder) Nested(string, int) bool { return false }
