package main

// sent is the prompt for the demo agent: a turn that ends at once.
const sent = "do: say on"

// measureSend times a prompt to an idle agent, until the turn has begun.
func (b *bench) measureSend(w *world) {
	a := w.startHooked()
	j := b.job("send to an idle agent", budget{counts: &counts{git: 0, tmux: 6}})
	for range quick.runs {
		a.send(w.time, j)
	}
	a.send(w.count, j)
}

// send types one prompt and waits for the end of its turn.
func (a *hookedAgent) send(measured step, j *job) {
	a.turns++
	measured(j, a.paw, "send", sessionName+"/"+agentName(0), sent)
	a.await("the end of the turn", func() bool {
		all := a.statusAgents()
		return len(all) == 1 && all[0].State == "idle" && all[0].TurnsCompleted == a.turns
	})
}
