package records

import (
	"context"

	"paw/orchestrator/cli"
)

// Uses reads what the answers of the conversation Spec.ConversationID took from its file. use is that of a line, with the
// id of the answer where it can be on several lines, of which the newest counts; one that took nothing is none.
func Uses[T any](ctx context.Context, cli cli.Driver, s cli.Spec, use func(T) (id string, u cli.Use)) ([]cli.Use, error) {
	path, err := TranscriptFile(ctx, cli, s)
	if err != nil {
		return nil, err
	}
	return UsesIn([]string{path}, use)
}

// UsesIn is Uses of several files, none of whose answers is in another one.
func UsesIn[T any](paths []string, use func(T) (id string, u cli.Use)) ([]cli.Use, error) {
	var all []cli.Use
	at := map[string]int{} // index of an answer by its id
	read := func(line T) bool {
		id, u := use(line)
		if u.Input+u.CacheRead+u.CacheWrite+u.Output == 0 {
			return true
		}
		if i, again := at[id]; again {
			u.At = all[i].At
			all[i] = u
			return true
		}
		if id != "" {
			at[id] = len(all)
		}
		all = append(all, u)
		return true
	}
	for _, path := range paths {
		if err := EachLine(path, read); err != nil {
			return all, err
		}
	}
	return all, nil
}
