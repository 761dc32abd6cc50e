package main

import "strings"

// exits is the EXIT STATUS section of a command's help.
func exits(text string, codes ...string) string {
	return text + "\n\nEXIT STATUS\n  " + strings.Join(append([]string{"0    ok", "1    error"}, codes...), "\n  ")
}

// The lines of EXIT STATUS sections.
const (
	exitUsage    = "2    bad flag, name or CLI"
	exitRefused  = "3    refused to protect work"
	exitChecks   = "9    a check failed"
	exitNotFound = "10   no such session or agent"
	exitLocked   = "11   locked by another paw or by a live agent"
	exitMissing  = "12   git, tmux or the CLI is missing or too old"
	exitBroken   = "130  interrupted"
)
