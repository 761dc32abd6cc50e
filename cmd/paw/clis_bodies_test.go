//go:build clis

package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// keptBodies are the bodies of the requests that CLIs sent to their model.
type keptBodies struct {
	mu     sync.Mutex
	bodies []string

	understood []understanding
}

// understanding lets the scripted model follow a text in a prompt: the steps are added to the
// request after the text.
type understanding struct {
	by          string // suffix of the path of the requests, "" for all requests
	text, steps string
}

// keeping returns a handler that keeps each request before answer handles it.
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

// first returns the first request that contains a text, "" if none does.
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
