package observe

import (
	"path/filepath"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/session/turn"
)

// OpFile has the id and the message of the commit of the newest move of an agent's worktree, for a look without git. It is
// there only where that move took place.
func OpFile(a app.Agent) string {
	return filepath.Join(a.App.StateDir(a.Session.Name, a.Record.Name), "op")
}

// rewound returns where the newest move has put an agent's worktree, in words, as long as last is the agent's last turn, and
// HEAD where the move has put it; else "".
func rewound(a app.Agent, last int, head string) string {
	content, _ := disk.ReadFile(OpFile(a))
	op, err := turn.ParseOp(string(content))
	if err != nil || op.Last != last || op.Head != head {
		return ""
	}
	return op.Where()
}
