package orchestrator

import "paw/session"

// survivors are the processes of an agent's last launch that run on although
// its lock is free: a CLI that closed every descriptor it inherited, or what a
// wrapper (codex, opencode and others are node programs that run a native one)
// left behind when it was killed.
func survivors(lock session.AgentLock, processes session.Processes, program string) []int {
	if lock.State != session.LockFree || lock.Holder.PID == 0 {
		return nil
	}
	if lock.Holder.Headless {
		return nil // a paw that frees the lock has ended its CLI, or seen it end
	}
	if lock.Holder.Alive() {
		return []int{lock.Holder.PID}
	}
	return lock.Holder.Descendants(processes, program)
}
