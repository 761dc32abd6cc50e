package fakemodel

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Requests keeps what the model was asked: a Server.Log. The zero value is empty.
type Requests struct {
	mu      sync.Mutex
	entries []Entry
}

// Write takes a line of the log.
func (r *Requests) Write(line []byte) (int, error) {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	return len(line), nil
}

// Last are the n newest requests, the newest at the end.
func (r *Requests) Last(n int) []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entries[max(0, len(r.entries)-n):])
}

// Asked returns the first request with a prompt, which a log cuts to 200 characters, after so many tools of that turn had
// given their results. The requests that a CLI makes for itself do not count.
func (r *Requests) Asked(prompt string, results int) (Entry, bool) {
	r.mu.Lock()
	all := r.entries
	r.mu.Unlock()
	i := slices.IndexFunc(all, func(e Entry) bool {
		return len(e.Tools) > 0 && e.Results == results && strings.TrimSpace(e.Prompt) == prompt
	})
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}
