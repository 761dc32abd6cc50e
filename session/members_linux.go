package session

// Members returns the living processes of the terminal session that the process leader began with setsid(2), in
// whatever process groups they are.
func Members(leader int) []int { return ListProcesses()[leader] }
