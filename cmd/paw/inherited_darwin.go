package main

// allCloseOnExec reports that macOS has no such call.
func allCloseOnExec() bool { return false }
