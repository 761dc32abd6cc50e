package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// forecasts is the number of forecasts. The last one is counted, not timed.
const forecasts = 6

// measureForecast times paw forecast of agents that have each committed work: it merges each pair
// of agents, and each agent with the target.
func (b *bench) measureForecast(w *world, agents int) {
	w.run(w.startArgs(agents)...)
	w.run(w.paw, "stop", sessionName)
	for i := range agents {
		dir := filepath.Join(w.repo+".paw", sessionName, agentName(i))
		for k := range 20 {
			name := filepath.Join(dir, fmt.Sprintf("d%d/f%d.txt", i, 100*i+k))
			check(os.WriteFile(name, []byte("by "+agentName(i)+"\n"), 0o644))
		}
		w.run("git", "-C", dir, "commit", "-q", "-a", "-m", "work of "+agentName(i))
	}
	j := b.job(fmt.Sprintf("forecast, %s, %d files", plural(agents), largeFiles), budget{multiple: 100, counts: &counts{git: 10}})
	for i := range forecasts {
		do := w.time
		if i == forecasts-1 {
			do = w.count
		}
		do(j, w.paw, "forecast")
	}
}
