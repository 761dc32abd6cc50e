package main

// allCloseOnExec returns false: macOS has no such system call.
func allCloseOnExec() bool { return false }
