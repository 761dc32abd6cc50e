// Package turn is about single turns: one prompt and everything until the CLI's answer is finished. It has the state
// machine of a turn, its append-only log, the names of tags and refs that mark turns in git, and the decision what an
// event of a CLI means for the turn that is open.
//
// It knows nothing of git, tmux or any CLI, and starts no process. What is true of a turn is what its log says: a Turn
// reads the log again before and after each of its own writes, since the hooks of a CLI are processes of their own.
package turn
