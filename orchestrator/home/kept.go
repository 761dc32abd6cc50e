package home

import (
	"errors"
	"os"
)

// KeepText writes what the user has written for a command that failed into a new file of an agent, and returns its name.
// Pattern is that of os.CreateTemp. The file goes with the agent.
func (h *Home) KeepText(session, agent, pattern, text string) (string, error) {
	f, err := os.CreateTemp(h.StateDir(session, agent), pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}
