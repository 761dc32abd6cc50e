package records

import (
	"os"
	"sort"
	"time"

	"paw/orchestrator/cli"
)

// LastUses orders conversations by the last change of their files.
type LastUses []lastUse

type lastUse struct {
	id string
	at time.Time
}

// Add takes a conversation; one whose file is gone by now is left out.
func (u *LastUses) Add(id, file string) {
	if info, err := os.Stat(file); err == nil {
		*u = append(*u, lastUse{id, info.ModTime()})
	}
}

// IDs returns the conversations, the one used last at the end.
func (u LastUses) IDs() []string {
	sort.SliceStable(u, func(i, j int) bool { return u[i].at.Before(u[j].at) })
	ids := make([]string, len(u))
	for i, use := range u {
		ids[i] = use.id
	}
	return ids
}

// BeganHere reports whether a conversation that began at that time can be the agent's. CLIs count milliseconds.
func BeganHere(s cli.Spec, at time.Time) bool {
	return !at.Before(s.Since.Truncate(time.Millisecond))
}
