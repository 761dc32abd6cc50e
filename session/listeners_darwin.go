package session

// Listeners returns nothing: macOS tells listening processes only through another program.
func Listeners(_, _ int) map[int]int { return nil }
