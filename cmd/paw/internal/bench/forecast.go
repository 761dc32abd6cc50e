package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// forecasts is how often a forecast is made; the last one is counted, not timed.
const forecasts = 6

// measureForecast times paw forecast of agents that have each committed work of their own, which is every pair of them and your
// branch with each.
func (b *bench) measureForecast(ctx context.Context, w *world, agents int) error {
	if err := w.run(ctx, nil, w.startArgs(agents)...); err != nil {
		return err
	}
	if err := w.run(ctx, nil, w.paw, "stop", sessionName); err != nil {
		return err
	}
	for i := range agents {
		dir := filepath.Join(w.repo+".paw", sessionName, agentName(i))
		for k := range 20 {
			name := filepath.Join(dir, fmt.Sprintf("d%d/f%d.txt", i, 100*i+k))
			if err := os.WriteFile(name, []byte("by "+agentName(i)+"\n"), 0o644); err != nil {
				return err
			}
		}
		if err := w.run(ctx, nil, "git", "-C", dir, "commit", "-q", "-a", "-m", "work of "+agentName(i)); err != nil {
			return err
		}
	}
	j := b.job(fmt.Sprintf("forecast, %s, %d files", plural(agents), largeFiles), budget{multiple: 100, counts: &counts{git: 10}})
	for i := range forecasts {
		do := w.time
		if i == forecasts-1 {
			do = w.count
		}
		if err := do(ctx, j, w.paw, "forecast"); err != nil {
			return err
		}
	}
	return nil
}
