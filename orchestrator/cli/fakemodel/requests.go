package fakemodel

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Entry is one request, as it was understood before it was answered.
type Entry struct {
	Time     time.Time
	Path     string
	Protocol string   // "messages", "responses", "chat" or "gemini"; "" for all else
	Tools    []string // that the CLI offers, by name; none for its own requests
	Prompt   string   // the newest one, cut to 200 characters
	Prompts  int      // of the conversation, with the newest one
	Results  int      // of tools, since the prompt
	Result   string   // the newest of them, cut likewise
	Text     string   // of the answer, cut likewise
	Tool     string   // which the answer calls
	Status   int      // of the answer; 200 also where its stream is going to break
	Aside    bool     // asked on the CLI's own behalf, such as for a title
	Bill     Bill     // of the answer, none of an error's
}

// keep takes a request.
func (s *Server) keep(r *http.Request, e Entry) {
	e.Time, e.Path = time.Now(), r.URL.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
}

// Last are the n newest requests, the newest at the end.
func (s *Server) Last(n int) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries[max(0, len(s.entries)-n):])
}

// Asked returns the first request with a prompt, which an entry cuts to 200 characters, after so many tools of that turn had
// given their results. The requests that a CLI makes for itself do not count.
func (s *Server) Asked(prompt string, results int) (Entry, bool) {
	s.mu.Lock()
	all := s.entries
	s.mu.Unlock()
	i := slices.IndexFunc(all, func(e Entry) bool {
		return len(e.Tools) > 0 && e.Results == results && strings.TrimSpace(e.Prompt) == prompt
	})
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}
