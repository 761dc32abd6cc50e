package claude

import (
	"slices"

	"paw/orchestrator/cli"
)

// background is the kind of a registry entry whose process a daemon of claude runs, and no terminal: one key or `/background`
// takes a conversation there, under another id, where the settings do not keep the agent view off.
const background = "bg"

// keepInPane keeps the agent view off unless the user's own settings say otherwise: neither a key nor a command of
// claude takes the conversation out of the pane then, and nothing starts claude's daemon.
const keepInPane = "disableAgentView"

// Away are the processes of claude's daemon that have a conversation of the agent, or work in its worktree: the conversation
// that was taken out of the pane has a new id.
func (driver) Away(s cli.Spec) []cli.Away {
	var away []cli.Away
	all, worktree := registry(s), ""
	for _, entry := range all {
		if entry.Kind != background || entry.Spare || !entry.alive() {
			continue
		}
		if worktree == "" {
			worktree = cli.Resolved(s.Worktree)
		}
		parked := slices.ContainsFunc(all, func(pane registryEntry) bool {
			return pane.SessionID == s.ConversationID && entry.parkedOf(pane)
		})
		if parked || entry.SessionID == s.ConversationID || cli.Resolved(entry.Cwd) == worktree {
			away = append(away, cli.Away{PID: entry.PID, Conversation: entry.SessionID, Job: entry.JobID})
		}
	}
	slices.SortFunc(away, func(a, b cli.Away) int { return a.PID - b.PID })
	return away
}

// EndAway asks claude's daemon: it starts a process again that a signal has ended.
func (driver) EndAway(s cli.Spec, a cli.Away) (cli.Command, bool) {
	return cli.Command{Argv: []string{s.Executable, "stop", a.Job}, Unset: []string{cli.ChildSession}}, a.Job != ""
}
