package fakemodel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newServer(t *testing.T) (string, *Server) {
	model := &Server{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	return server.URL, model
}

func post(ctx context.Context, t *testing.T, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// spoken is one way to send a prompt, and how to find the answer.
type spoken struct {
	path, streamPath string
	body             func(prompt string, stream bool) string
	text             func(event map[string]any) string // of an event of a stream
	failure          string                            // of do: fail 429 slow down
}

func dig(value any, keys ...any) any {
	for _, key := range keys {
		switch key := key.(type) {
		case string:
			o, _ := value.(map[string]any)
			value = o[key]
		case int:
			l, _ := value.([]any)
			if key >= len(l) {
				return nil
			}
			value = l[key]
		}
	}
	return value
}

func text(value any, keys ...any) string {
	s, _ := dig(value, keys...).(string)
	return s
}

var languages = map[string]spoken{
	"messages": {
		path: "/v1/messages", streamPath: "/v1/messages",
		body: func(prompt string, stream bool) string {
			return encode(object{"stream": stream, "messages": list{object{"role": "user", "content": prompt}},
				"tools": list{object{"name": "Bash"}}})
		},
		text:    func(e map[string]any) string { return text(e, "delta", "text") },
		failure: "rate_limit_error",
	},
	"responses": {
		path: "/v1/responses", streamPath: "/v1/responses",
		body: func(prompt string, stream bool) string {
			return encode(object{"stream": stream, "input": prompt,
				"tools": list{object{"type": "function", "name": "exec_command"}}})
		},
		text:    func(e map[string]any) string { return text(e, "delta") },
		failure: "invalid_request_error",
	},
	"chat": {
		path: "/v1/chat/completions", streamPath: "/v1/chat/completions",
		body: func(prompt string, stream bool) string {
			return encode(object{"stream": stream, "messages": list{object{"role": "user", "content": prompt}},
				"tools": list{object{"function": object{"name": "bash"}}}})
		},
		text:    func(e map[string]any) string { return text(e, "choices", 0, "delta", "content") },
		failure: "invalid_request_error",
	},
	"gemini": {
		path: "/v1beta/models/m:generateContent", streamPath: "/v1beta/models/m:streamGenerateContent",
		body: func(prompt string, _ bool) string {
			return encode(object{"contents": list{object{"role": "user", "parts": list{object{"text": prompt}}}},
				"tools": list{object{"functionDeclarations": list{object{"name": "run_shell_command"}}}}})
		},
		text:    func(e map[string]any) string { return text(e, "candidates", 0, "content", "parts", 0, "text") },
		failure: "RESOURCE_EXHAUSTED",
	},
}

func eachLanguage(t *testing.T, test func(t *testing.T, base string, s spoken)) {
	for name, s := range languages {
		t.Run(name, func(t *testing.T) {
			base, _ := newServer(t)
			test(t, base, s)
		})
	}
}

// readStream returns the text of a stream and the error that broke it.
func (s spoken) readStream(t *testing.T, body io.Reader) (string, error) {
	t.Helper()
	var all strings.Builder
	scanner := bufio.NewScanner(body)
	for scanner.Scan() {
		data, ok := strings.CutPrefix(scanner.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		all.WriteString(s.text(event))
	}
	return all.String(), scanner.Err()
}

func TestStreamedText(t *testing.T) {
	eachLanguage(t, func(t *testing.T, base string, s spoken) {
		begin := time.Now()
		response := post(t.Context(), t, base+s.streamPath, s.body("do: slow 0.2 one two three", true))
		got, err := s.readStream(t, response.Body)
		if got != "one two three" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if took := time.Since(begin); took < 150*time.Millisecond {
			t.Errorf("slow took %v", took)
		}
		if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Error(kind)
		}
	})
}

func TestFail(t *testing.T) {
	eachLanguage(t, func(t *testing.T, base string, s spoken) {
		response := post(t.Context(), t, base+s.streamPath, s.body("do: fail 429 slow down", true))
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != 429 || !strings.Contains(string(body), "slow down") || !strings.Contains(string(body), s.failure) {
			t.Errorf("%d %s", response.StatusCode, body)
		}
	})
}

// A limit is told with a time that is that far away, in whichever words the vendor has for it.
func TestLimit(t *testing.T) {
	eachLanguage(t, func(t *testing.T, base string, s spoken) {
		at := time.Now().Add(time.Hour).Unix()
		response := post(t.Context(), t, base+s.streamPath, s.body("do: limit 3600", true))
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		told := fmt.Sprint(response.Header) + string(body)
		near := false
		for second := at - 1; second <= at+30; second++ {
			near = near || strings.Contains(told, fmt.Sprint(second))
		}
		for left := 3570; left <= 3600; left++ {
			near = near || strings.Contains(told, fmt.Sprintf("%ds", left)) || response.Header.Get("retry-after") == fmt.Sprint(left)
		}
		if response.StatusCode != http.StatusTooManyRequests || !near {
			t.Errorf("%d %s", response.StatusCode, told)
		}
	})
}

func TestDrop(t *testing.T) {
	eachLanguage(t, func(t *testing.T, base string, s spoken) {
		response := post(t.Context(), t, base+s.streamPath, s.body("do: drop", true))
		if got, err := s.readStream(t, response.Body); got != unfinished || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q, %v", got, err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+s.path, strings.NewReader(s.body("do: drop", false)))
		if err != nil {
			t.Fatal(err)
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			_ = response.Body.Close()
			t.Errorf("without a stream: status %d", response.StatusCode)
		}
	})
}

func TestHang(t *testing.T) {
	eachLanguage(t, func(t *testing.T, base string, s spoken) {
		ctx, cancel := context.WithCancel(t.Context())
		response := post(ctx, t, base+s.streamPath, s.body("do: say half\ndo: hang", true))
		first := make([]byte, 1)
		if _, err := response.Body.Read(first); err != nil {
			t.Fatal(err)
		}
		cancel() // and the server must let go of the request, or it would not close
		if _, err := s.readStream(t, response.Body); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestSleepEndsWhenTheClientLeaves(t *testing.T) {
	base, model := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	s := languages["chat"]
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+s.path, strings.NewReader(s.body("do: sleep 600", false)))
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		_ = response.Body.Close()
		t.Errorf("%v", err)
	}
	if entries := model.Last(5); len(entries) != 1 || entries[0].Prompt != "do: sleep 600" {
		t.Errorf("%+v", entries)
	}
}

func TestRequests(t *testing.T) {
	base, model := newServer(t)
	body := `{"model":"m","stream":false,"tools":[{"name":"Write"},{"name":"Bash"}],"messages":[
		{"role":"user","content":"do: run a\ndo: say now\ndo: run b"},
		{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"done a"}]}]}]}`
	post(t.Context(), t, base+"/v1/messages?beta=true", body)
	post(t.Context(), t, base+"/elsewhere", "")
	want := []Entry{
		{
			Path: "/v1/messages", Protocol: "messages", Tools: []string{"Bash", "Write"}, Prompt: "do: run a\ndo: say now\ndo: run b",
			Prompts: 1, Results: 1, Result: "done a", Text: "now", Tool: "Bash", Status: 200, Bill: Bill{Input: 100, Output: 10},
		},
		{Path: "/elsewhere", Status: 404},
	}
	got := model.Last(5)
	for i := range got {
		got[i].Time = time.Time{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompressedRequest(t *testing.T) {
	base, _ := newServer(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/chat/completions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Encoding", "zstd")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if want := "unknown encoding zstd"; err != nil || !strings.Contains(string(answer), want) {
		t.Errorf("%s, %v", answer, err)
	}
}

func TestOtherEndpoints(t *testing.T) {
	base, _ := newServer(t)
	for path, want := range map[string]string{
		"/v1/messages":                     `invalid_request_error`,
		"/v1beta/models/m:generateContent": `INVALID_ARGUMENT`,
		"/":                                `{}`,
		"/v2/else":                         `no such endpoint: /v2/else`,
	} {
		answer, err := io.ReadAll(post(t.Context(), t, base+path, "not JSON at all").Body)
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %s, %v; want %s", path, answer, err, want)
		}
	}
}
