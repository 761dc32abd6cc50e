package session

// Listeners finds nobody: the system does not tell without another program.
func Listeners(_, _ int) map[int]int { return nil }
