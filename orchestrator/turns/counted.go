package turns

import (
	"paw/session"
	"paw/session/turn"
)

// countFinished counts what finishedTurns found.
func countFinished(results []turn.Result) session.Finished {
	counted := session.Finished{}
	for _, r := range results {
		counted.Add(r.Number)
	}
	return counted
}

// finishedTurns are the results of the start, as turn 0, and of the finished turns. Logs that cannot be read give none.
func finishedTurns(w *session.Agent, dir turn.Dir) []turn.Result {
	results := []turn.Result{{CommitHash: w.BaseCommit}}
	records, _ := dir.Records()
	for _, r := range records {
		if result, ok := r.Result(); ok {
			results = append(results, result)
		}
	}
	return results
}
