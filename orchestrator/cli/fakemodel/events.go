package fakemodel

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"paw/config/poll"
)

type (
	object = map[string]any
	list   = []any
)

// events writes server-sent events. It stops when the client disconnects or a fault is due.
type events struct {
	w       http.ResponseWriter
	r       *http.Request
	started bool
}

// send sends one event; name may be empty.
func (e *events) send(name string, value any) {
	if !e.started {
		e.started = true
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.Header().Set("Cache-Control", "no-cache")
		e.w.WriteHeader(http.StatusOK)
	}
	var text string
	if name != "" {
		text = "event: " + name + "\n"
	}
	e.write(text + "data: " + encode(value) + "\n\n")
}

func (e *events) write(text string) {
	if _, err := io.WriteString(e.w, text); err != nil {
		panic(http.ErrAbortHandler) // the client has disconnected
	}
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// speak streams the text of an answer at its speed, then fails if the answer has a fault, in which
// case it does not return.
func (e *events) speak(a answer, piece func(text string)) {
	pieces := strings.SplitAfter(a.text, " ")
	for _, text := range pieces {
		if text == "" {
			continue
		}
		piece(text)
		if !e.wait(a.spread / time.Duration(len(pieces))) {
			panic(http.ErrAbortHandler)
		}
	}
	e.fail(a.fault)
}

// fail breaks the connection for a fault: at once, or once the client disconnects.
func (e *events) fail(f fault) {
	switch f {
	case faultHang:
		<-e.r.Context().Done()
		panic(http.ErrAbortHandler)
	case faultDrop:
		panic(http.ErrAbortHandler)
	case faultStatus, faultLimit:
	}
}

// wait waits for d and reports whether the client is still connected.
func (e *events) wait(d time.Duration) bool {
	poll.Sleep(e.r.Context(), d)
	return e.r.Context().Err() == nil
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, encode(value)+"\n") // an error means that the client has disconnected
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("answer: %v", err)) // cannot happen: values here are strings, numbers, lists and objects
	}
	return string(text)
}

// newID returns an id that is unique, also in a conversation that began with another server.
func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }
