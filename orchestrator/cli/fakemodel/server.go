// Package fakemodel is a scripted model server: it lets the real claude, codex, opencode, gemini,
// qwen, copilot and pi work on loopback without an account. Tests use it, and `paw doctor --cli`.
//
// The script is in the prompt, in the words of paw's built-in demo agent: each line `do: STEP` is a
// step, and a prompt without one is noted in NOTES.md and committed. The CLI does the steps with
// its own shell tool.
//
//	write PATH TEXT    the file is TEXT and a newline
//	append PATH TEXT   TEXT and a newline go to the file's end
//	remove PATH        delete the file
//	run COMMAND        with the CLI's shell tool
//	ask COMMAND        a command for which the CLI asks permission
//	commit MESSAGE     commit everything
//	outcome WORD       footer "outcome: WORD" of this prompt's next commit
//	say TEXT           part of the answer
//	sleep SECONDS      the next request is answered late; fractions allowed
//	slow SECONDS TEXT  part of the answer, streamed over that time
//	fail STATUS        every request from here on gets this HTTP error; 400 is not tried again
//	limit SECONDS      every request from here on is told that a usage limit is reached, which is lifted after that time
//	drop               the connection breaks within the answer
//	hang               half an answer, then nothing until the CLI gives up
//
// The answers need no state. Which step is next follows from the tool results that come after the
// newest prompt of a request, so resumed, forked and parallel conversations just work. What a tool
// gave back does not matter: after a command that failed or was refused, the next step follows.
package fakemodel

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxBody is how many bytes of a request are read.
const maxBody = 64 << 20

// Server speaks Anthropic Messages, OpenAI Responses and chat completions, and the Gemini API, and
// records the requests. The zero value works.
type Server struct {
	Bills bool // bill each answer with other numbers of tokens
	Used  int  // percent of a subscription's limits that answers in Anthropic's protocol report as used; 0 reports nothing

	mu      sync.Mutex
	entries []Entry
	billed  int64 // number of billed answers
}

// Entry is a request as the server understood it.
type Entry struct {
	Time     time.Time
	Path     string
	Protocol string   // "messages", "responses", "chat" or "gemini"; "" for other requests
	Tools    []string // names of the CLI's tools; none in requests that a CLI makes for itself
	Prompt   string   // the newest prompt, cut to 200 characters
	Prompts  int      // number of prompts in the conversation, the newest included
	Results  int      // tool results since the prompt
	Result   string   // newest tool result, cut to 200 characters
	Text     string   // text of the answer, cut to 200 characters
	Tool     string   // tool that the answer calls
	Status   int      // HTTP status of the answer; 200 also where its stream will break
	Aside    bool     // the CLI asks for itself, such as for a title
	Bill     Bill     // tokens of the answer; zero for an error
}

func (s *Server) keep(r *http.Request, e Entry) {
	e.Time, e.Path = time.Now(), r.URL.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
}

// Last returns the n newest requests, the newest last.
func (s *Server) Last(n int) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries[max(0, len(s.entries)-n):])
}

// Asked returns the first request that has the prompt (as an Entry cuts it) and that many tool
// results. Requests that a CLI makes for itself do not count.
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

// protocol is a vendor's API.
type protocol interface {
	// parse reads the body of a request.
	parse(r *http.Request, body []byte) (request, error)
	// stream sends the answer as events.
	stream(e *events, q request, a answer, c call)
	// whole returns the answer as one JSON value.
	whole(q request, a answer, c call) object
	// failure returns the body of an HTTP error.
	failure(status int, message string) any
	// limit returns what the vendor's server answers with status 429 once a usage limit is reached
	// until a time, and sets headers. It follows what users of the CLIs have reported.
	limit(h http.Header, until time.Time) any
}

// ServeHTTP answers a request of any protocol, which is told by the end of the path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	body, err := readBody(r)
	switch {
	case err != nil:
		s.reply(w, r, http.StatusBadRequest, chat{}.failure(http.StatusBadRequest, err.Error()))
	case strings.HasSuffix(path, "/messages"):
		s.speak(w, r, messages{}, body)
	case strings.HasSuffix(path, "/responses"):
		s.speak(w, r, responses{}, body)
	case strings.HasSuffix(path, "/chat/completions"):
		s.speak(w, r, chat{}, body)
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		s.speak(w, r, gemini{}, body)
	case path == "/": // a CLI checks whether the server is up
		s.reply(w, r, http.StatusOK, object{})
	default:
		s.reply(w, r, http.StatusNotFound, chat{}.failure(http.StatusNotFound, "no such endpoint: "+path))
	}
}

func readBody(r *http.Request) ([]byte, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		return nil, fmt.Errorf("request body: unknown encoding %s", encoding)
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return content, nil
}

func (s *Server) speak(w http.ResponseWriter, r *http.Request, p protocol, body []byte) {
	q, err := p.parse(r, body)
	if err != nil {
		s.reply(w, r, http.StatusBadRequest, p.failure(http.StatusBadRequest, "request body: "+err.Error()))
		return
	}
	a, c := q.answer()
	q.bill = s.bill(q.protocol)
	entry := Entry{
		Protocol: q.protocol, Aside: q.aside(), Bill: q.bill, Tools: slices.Sorted(maps.Keys(q.tools)),
		Prompt: clip(q.prompt, 200), Prompts: q.prompts, Results: q.results, Result: clip(q.newest, 200), Text: clip(a.text, 200), Tool: c.tool, Status: http.StatusOK,
	}
	switch a.fault {
	case faultStatus:
		entry.Status, entry.Bill = a.status, Bill{}
	case faultLimit:
		entry.Status, entry.Bill = http.StatusTooManyRequests, Bill{}
	case faultDrop, faultHang:
	}
	s.keep(r, entry)
	e := &events{w: w, r: r}
	if s.Used > 0 && q.protocol == "messages" {
		messagesUsed(w.Header(), s.Used, time.Now().Add(usedFor))
	}
	if !e.wait(a.delay) {
		return
	}
	switch {
	case a.fault == faultStatus:
		writeJSON(w, a.status, p.failure(a.status, a.text))
	case a.fault == faultLimit:
		writeJSON(w, http.StatusTooManyRequests, p.limit(w.Header(), time.Now().Add(a.lifted)))
	case q.stream:
		p.stream(e, q, a, c)
	default:
		if !e.wait(a.spread) {
			return
		}
		e.fail(a.fault)
		writeJSON(w, http.StatusOK, p.whole(q, a, c))
	}
}

// reply answers a request that is not to the model.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, status int, value any) {
	s.keep(r, Entry{Status: status})
	writeJSON(w, status, value)
}

// same is the bill of every answer of a server without Bills.
var same = Bill{Input: 100, Output: 10}

// another returns the n-th bill. No two bills, and no sums of a few of them, are equal.
func another(n int64) Bill {
	return Bill{Input: 1000 + 7*n*n, CacheRead: 300 + 11*n*n, CacheWrite: 20 + 5*n*n, Output: 10 + 3*n*n}
}

func (s *Server) bill(protocol string) Bill {
	if !s.Bills {
		return same
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.billed++
	b := another(s.billed)
	if protocol != "messages" {
		b.CacheWrite = 0
	}
	return b
}

// seconds returns the seconds from now until a time.
func seconds(until time.Time) int { return int(time.Until(until).Round(time.Second).Seconds()) }

func (messages) limit(h http.Header, until time.Time) any {
	at := strconv.FormatInt(until.Unix(), 10)
	h.Set("retry-after", strconv.Itoa(seconds(until)))
	h.Set("anthropic-ratelimit-unified-status", "rejected")
	h.Set("anthropic-ratelimit-unified-reset", at)
	h.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
	h.Set("anthropic-ratelimit-unified-5h-status", "rejected")
	h.Set("anthropic-ratelimit-unified-5h-reset", at)
	h.Set("anthropic-ratelimit-unified-5h-utilization", "1.0")
	h.Set("anthropic-ratelimit-unified-overage-status", "rejected")
	h.Set("anthropic-ratelimit-unified-overage-disabled-reason", "org_level_disabled")
	return messages{}.failure(http.StatusTooManyRequests, "This request would exceed your account's rate limit. Please try again later.")
}

// usedFor is how long the limits that answers report still last.
const usedFor = 2 * time.Hour

// messagesUsed reports the use of a subscription's limits: percent of the five-hour limit, half as
// much of the seven-day limit.
func messagesUsed(h http.Header, percent int, until time.Time) {
	h.Set("anthropic-ratelimit-unified-status", "allowed")
	h.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
	for name, one := range map[string]struct {
		used float64
		at   time.Time
	}{"5h": {float64(percent) / 100, until}, "7d": {float64(percent) / 200, until.Add(48 * time.Hour)}} {
		h.Set("anthropic-ratelimit-unified-"+name+"-status", "allowed")
		h.Set("anthropic-ratelimit-unified-"+name+"-utilization", strconv.FormatFloat(one.used, 'f', 2, 64))
		h.Set("anthropic-ratelimit-unified-"+name+"-reset", strconv.FormatInt(one.at.Unix(), 10))
	}
	h.Set("anthropic-ratelimit-unified-reset", strconv.FormatInt(until.Unix(), 10))
}

func (responses) limit(h http.Header, until time.Time) any {
	left := seconds(until)
	h.Set("x-codex-plan-type", "plus")
	h.Set("x-codex-primary-used-percent", "100")
	h.Set("x-codex-primary-window-minutes", "300")
	h.Set("x-codex-primary-reset-after-seconds", strconv.Itoa(left))
	h.Set("x-codex-primary-reset-at", strconv.FormatInt(until.Unix(), 10))
	h.Set("x-codex-secondary-used-percent", "80")
	h.Set("x-codex-secondary-window-minutes", "10080")
	h.Set("x-codex-secondary-reset-after-seconds", strconv.Itoa(left+302_400))
	h.Set("x-codex-secondary-reset-at", strconv.FormatInt(until.Unix()+302_400, 10))
	return object{"error": object{
		"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
		"resets_at": until.Unix(), "resets_in_seconds": left,
	}}
}

func (chat) limit(h http.Header, until time.Time) any {
	h.Set("retry-after", strconv.Itoa(seconds(until)))
	return object{"error": object{
		"type": "insufficient_quota", "code": "insufficient_quota", "param": nil,
		"message": "You exceeded your current quota, please check your plan and billing details.",
	}}
}

func (gemini) limit(_ http.Header, until time.Time) any {
	return gemini{}.failure(http.StatusTooManyRequests, "You exceeded your current quota. Please retry in "+strconv.Itoa(seconds(until))+"s.")
}
