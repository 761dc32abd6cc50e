package main

// Budgets for a session with one agent.
var (
	oneStartCounts    = &counts{git: 7, tmux: 3, syncs: 3}
	idleRecoverCounts = &counts{tmux: 1, lists: 1, syncs: 2}
)

// measureSingle times the start of one agent beside a script that does the same, and a recover with
// nothing to do.
func (b *bench) measureSingle(w *world) {
	start := b.job("start, one agent", budget{multiple: 30, counts: oneStartCounts})
	shell := b.job("  the same in shell", budget{})
	idle := b.job("recover, nothing to do", budget{counts: idleRecoverCounts})
	measure := func(measured step) {
		w.startInShell(shell, 1, measured)
		measured(start, w.startArgs(1)...)
		w.expectAlive(1)
		measured(idle, w.paw, "recover", sessionName, "--detach")
		w.expectAlive(1)
		w.run(w.paw, "stop", sessionName)
		w.run(w.paw, "purge", sessionName, "--yes", "--tags")
		w.settle()
	}
	for range lives {
		measure(w.time)
	}
	measure(w.count)
}
