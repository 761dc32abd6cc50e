package observe

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/worktree/gitdir"
)

func rewoundFile(a app.Agent) string {
	return filepath.Join(a.App.StateDir(a.Session.Name, a.Record.Name), "rewound")
}

// NoteRewound writes down where a move has put an agent's worktree after its turn last, in words; "" for nowhere else.
func NoteRewound(a app.Agent, last int, head, where string) {
	if path := rewoundFile(a); where != "" || disk.Exists(path) {
		_ = disk.ReplaceSoon(path, fmt.Appendln(nil, last, head, where))
	}
}

// Rewound returns the words of NoteRewound, as long as the turn is the last one and HEAD where the move has put it, else "".
func Rewound(a app.Agent, last int, head string) string {
	f := strings.SplitN(gitdir.Line(rewoundFile(a)), " ", 3)
	if len(f) < 3 || f[0] != strconv.Itoa(last) || f[1] != head {
		return ""
	}
	return f[2]
}
