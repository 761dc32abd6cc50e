package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// peer is the agent's end of a client.
type peer struct {
	t     *testing.T
	lines *bufio.Scanner
	to    io.WriteCloser
}

func connect(t *testing.T, told func(method string, id, params json.RawMessage) bool) (*Client, *peer) {
	c := NewClient(told)
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	go c.Write(in)
	go c.Read(out)
	t.Cleanup(func() { _ = toClient.Close() })
	return c, &peer{t, bufio.NewScanner(fromClient), toClient}
}

func ignore(string, json.RawMessage, json.RawMessage) bool { return false }

// hears returns the next message of the client.
func (p *peer) hears() (m message) {
	if !p.lines.Scan() {
		p.t.Error("the client is silent")
	} else if err := json.Unmarshal(p.lines.Bytes(), &m); err != nil {
		p.t.Error(err)
	}
	return m
}

func (p *peer) says(line string) {
	if _, err := io.WriteString(p.to, line+"\n"); err != nil {
		p.t.Error(err)
	}
}

// answers answers requests by their methods, with a result or else with an error.
func (p *peer) answers(answers map[string]string, heard *[]string) {
	for p.lines.Scan() {
		var m message
		_ = json.Unmarshal(p.lines.Bytes(), &m)
		*heard = append(*heard, m.Method)
		kind, answer := "result", answers[m.Method]
		if strings.HasPrefix(answer, `{"code"`) || answer == "" {
			kind = "error"
		}
		if answer == "" {
			answer = `{"code":-32601,"message":"Method not found"}`
		}
		p.says(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"` + kind + `":` + answer + `}`)
	}
}

// TestOpenRecorded opens conversations as real agents have opened them.
func TestOpenRecorded(t *testing.T) {
	content, err := os.ReadFile("testdata/handshakes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		var one struct {
			Agent, Session string
			Initialize     json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		for before, want := range map[string]string{"": "initialize session/new", one.Session: "initialize session/load"} {
			c, p := connect(t, ignore)
			var heard []string
			go p.answers(map[string]string{"initialize": string(one.Initialize), "session/new": `{"sessionId":"` + one.Session + `"}`, "session/load": "{}"}, &heard)
			got, err := c.Open(t.Context(), "/w", before)
			if diff := cmp.Diff(Session{ID: one.Session, Agent: agentName(one.Initialize), Loads: true}, got); diff != "" || err != nil || strings.Join(heard, " ") != want {
				t.Errorf("%s, before %q: %v, asked %v %s", one.Agent, before, err, heard, diff)
			}
		}
	}
}

func agentName(initialize json.RawMessage) string {
	_, name, _ := strings.Cut(string(initialize), `"agentInfo": {"name": "`)
	name, _, _ = strings.Cut(name, `"`)
	return name
}

func TestOpen(t *testing.T) {
	const loads, resumes, neither = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}`,
		`{"protocolVersion":1,"agentCapabilities":{"loadSession":false,"sessionCapabilities":{"resume":{}}}}`, `{"protocolVersion":1}`
	const made = `{"sessionId":"new"}`
	for _, test := range []struct {
		name    string
		answers map[string]string
		want    Session
		fails   string
		heard   string
	}{
		{"resumes", map[string]string{"initialize": resumes, "session/resume": "{}"}, Session{ID: "old", Loads: true}, "", "initialize session/resume"},
		{"load is refused", map[string]string{"initialize": loads, "session/resume": "{}"}, Session{ID: "old", Loads: true}, "", "initialize session/load session/resume"},
		{"both are refused", map[string]string{"initialize": loads, "session/new": made}, Session{ID: "new", Loads: true, Anew: "Method not found"}, "", "initialize session/load session/resume session/new"},
		{"neither", map[string]string{"initialize": neither, "session/new": made}, Session{ID: "new", Anew: "it cannot open a conversation again"}, "", "initialize session/new"},
		{"other version", map[string]string{"initialize": `{"protocolVersion":2}`}, Session{}, "it speaks version 2 of the protocol, and paw version 1", "initialize"},
		{"login", map[string]string{"initialize": `{"protocolVersion":1,"authMethods":[{"name":"Log in","description":"run kimi login"}]}`, "session/new": `{"code":-32000,"message":"Authentication required"}`},
			Session{}, "it asks for a login: Log in (run kimi login); Authentication required", "initialize session/new"},
		{"no id", map[string]string{"initialize": neither, "session/new": "{}"}, Session{Anew: "it cannot open a conversation again"}, "session/new: the answer names no session", "initialize session/new"},
		{"details", map[string]string{"initialize": `{"code":1,"message":"Internal error","data":{"details":"no disk"}}`}, Session{}, "Internal error: no disk", "initialize"},
		{"nonsense", map[string]string{"initialize": `[1]`}, Session{}, "it speaks version 0 of the protocol, and paw version 1", "initialize"},
	} {
		c, p := connect(t, ignore)
		var heard []string
		go p.answers(test.answers, &heard)
		got, err := c.Open(t.Context(), "/w", "old")
		if err == nil {
			err = errors.New("")
		}
		if diff := cmp.Diff(test.want, got); diff != "" || !strings.HasPrefix(err.Error(), test.fails) || (err.Error() == "") != (test.fails == "") || strings.Join(heard, " ") != test.heard {
			t.Errorf("%s: %v, asked %v %s", test.name, err, heard, diff)
		}
	}
}

// TestRecordedTurn: what agents have told is told in that order, before the answer, and requests that paw does not know are refused.
func TestRecordedTurn(t *testing.T) {
	content, err := os.ReadFile("testdata/turn.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	calls := map[string]*call{}
	c, p := connect(t, func(method string, id, params json.RawMessage) bool {
		var u update
		asked := permission{}
		switch method {
		case "session/update":
			if err := json.Unmarshal(params, &u); err != nil {
				t.Error(err)
			}
			if calls[u.Update.ID] == nil {
				calls[u.Update.ID] = &call{}
			}
			words := ""
			if u.Update.ID != "" {
				calls[u.Update.ID].changed(u.Update.call)
				words = calls[u.Update.ID].words() + " "
			}
			told = append(told, strings.TrimSpace(u.Update.Kind+" "+words+textOf(u.Update.Content)))
		case "session/request_permission":
			if err := json.Unmarshal(params, &asked); err != nil {
				t.Error(err)
			}
			told = append(told, asked.Call.words())
			for _, o := range asked.Options {
				told = append(told, o.label()+" = "+o.ID)
			}
		default:
			return false
		}
		return true
	})
	wait := c.Ask("session/prompt", object{"sessionId": "s"})
	asked := p.hears()
	refused := make(chan message, 1)
	go func() { refused <- p.hears() }()
	p.says(strings.TrimSuffix(string(content), "\n"))
	p.says(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"stopReason":"end_turn","usage":{"inputTokens":21432,"outputTokens":2952,"totalTokens":24384,"cachedReadTokens":11614}}}`)
	var reply struct {
		Stop  string  `json:"stopReason"`
		Usage *tokens `json:"usage"`
	}
	if err := wait(t.Context(), &reply); err != nil || reply.Stop != "end_turn" || reply.Usage.CacheRead != 11614 {
		t.Errorf("%v %+v", err, reply)
	}
	want := []string{
		"available_commands_update", "session_info_update", "tool_call WriteFile",
		"agent_message_chunk",
		"tool_call_update WriteFile: Writing to acp1.txt", "tool_call_update WriteFile: Writing to acp1.txt changed /w/acp1.txt",
		"tool_call scripted: env PAW_ASK=1 sh -c 'touch acp2.txt'",
		"scripted: env PAW_ASK=1 sh -c 'touch acp2.txt'",
		"Yes (Approve once) = approve_once", "Yes, always (Approve for this session) = approve_always", "No (Reject) = reject",
		"tool_call_update scripted: env PAW_ASK=1 sh -c 'touch acp2.txt' Command: env PAW_ASK=1",
		"agent_message_chunk do", "agent_message_chunk ne",
		"usage_update",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if m := <-refused; string(m.ID) != "0" || m.Error == nil || m.Error.Code != codeNoMethod {
		t.Errorf("%+v", m)
	}
}

// TestLies: a response with an id that the client has not used is dropped, and a call fails when the agent ends.
func TestLies(t *testing.T) {
	c, p := connect(t, ignore)
	wait := c.Ask("session/prompt", nil)
	asked := p.hears()
	for _, line := range []string{`{"id":4711,"result":1}`, `{"id":null,"result":1}`, `{"id":"x","result":1}`, `{"result":1}`, `[]`, `null`, `{"id":{"a":1}}`, "chatter", ""} {
		p.says(line)
	}
	p.says(`{"id":` + string(asked.ID) + `,"result":2}`)
	p.says(`{"id":` + string(asked.ID) + `,"result":3}`)
	var got int
	if err := wait(t.Context(), &got); got != 2 || err != nil {
		t.Errorf("%d %v", got, err)
	}
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Call(cut, "session/load", nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wait = c.Ask("session/prompt", nil)
	_ = p.to.Close()
	if err := wait(t.Context(), nil); err == nil || err.Error() != "session/prompt: it has ended" {
		t.Error(err)
	}
	if err := c.Call(t.Context(), "session/prompt", nil, nil); err == nil || err.Error() != "session/prompt: it has ended" {
		t.Error(err)
	}
}

// TestDeafAgent: with an agent that does not read its input, sending and reading do not block.
func TestDeafAgent(t *testing.T) {
	c, p := connect(t, ignore)
	for range mostLines + 100 {
		c.Notify("session/cancel", object{"sessionId": "s"})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			p.says(`{"id":1,"method":"fs/read_text_file"}`)
		}
	}()
	<-done
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) > mostLines {
		t.Errorf("%d lines wait", len(c.lines))
	}
}

// TestLongLine: a line that is too long ends the exchange.
func TestLongLine(t *testing.T) {
	c := NewClient(ignore)
	go c.Read(io.MultiReader(strings.NewReader(`{"id":1,"result":"`), endless{}))
	if err := c.Call(t.Context(), "initialize", nil, nil); !errors.Is(err, bufio.ErrTooLong) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestAnswersOfOddForms: an answer ends a request in whatever form it comes, and what can be read of it counts.
func TestAnswersOfOddForms(t *testing.T) {
	for answer, want := range map[string]string{
		`"id":1,"error":"no"`:                                     `error "no"`,
		`"id":1,"error":{"code":"x","message":"no way"}`:          "error no way",
		`"id":1,"error":{}`:                                       "error {}",
		`"id":"1","result":{"stop":"end"}`:                        "end",
		`"id":1,"method":7,"result":{"stop":"end"}`:               "end",
		`"id":1,"result":{"stop":"end","usage":"much"}`:           "end",
		`"id":1,"result":{"stop":"end","usage":{"tokens":1e300}}`: "end",
		`"id":1,"result":7`:                                       "",
		`"id":1`:                                                  "",
	} {
		c, p := connect(t, ignore)
		go func() {
			p.hears()
			p.says(`{"jsonrpc":2,` + answer + `}`)
		}()
		var result struct {
			Stop  string                  `json:"stop"`
			Usage *struct{ Tokens int64 } `json:"usage"`
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var got string
		if err := c.Call(ctx, "x", nil, &result); err != nil {
			got = "error " + err.Error()
		} else {
			got = result.Stop
		}
		cancel()
		if got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}
