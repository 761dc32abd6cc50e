//go:build clis

package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// keptBodies are what CLIs sent to their model, as it is on the wire.
type keptBodies struct {
	mu     sync.Mutex
	bodies []string

	understood []understanding
}

// understanding is a text of a prompt, and the steps that a model makes of it: they come to stand behind it.
type understanding struct {
	by          string // the end of the path of those requests whose model does, "" for all
	text, steps string
}

// keeping keeps each request, and then has it answered.
func (k *keptBodies) keeping(answer http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			k.mu.Lock()
			k.bodies = append(k.bodies, string(body))
			k.mu.Unlock()
		}
		for _, one := range k.understood {
			if strings.HasSuffix(request.URL.Path, one.by) {
				body = bytes.ReplaceAll(body, []byte(one.text), []byte(one.text+strings.ReplaceAll("\n"+one.steps, "\n", `\n`)))
				request.ContentLength = int64(len(body))
			}
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		answer.ServeHTTP(out, request)
	})
}

// first is the first request that has a text in it, "" when none has.
func (k *keptBodies) first(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, body := range k.bodies {
		if strings.Contains(body, text) {
			return body
		}
	}
	return ""
}
