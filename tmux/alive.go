package tmux

import "time"

// ServerAlive tells whether the recorded server still runs: a tmux process of
// that number that did not start after the recorded start (Unix seconds). A
// socket that does not answer is no proof of the contrary.
func ServerAlive(serverPID int, serverStarted int64) bool {
	if serverPID <= 1 || serverStarted <= 0 {
		return false
	}
	p, err := inspect(serverPID)
	return err == nil && isServer(p.name) && !p.started.After(time.Unix(serverStarted, 0).Add(startTolerance))
}
