// Package acp drives agents that speak the Agent Client Protocol (agentclientprotocol.com): JSON-RPC
// by lines on standard input and output. In an agent's pane runs Main, which starts the agent as its
// child, shows a plain conversation and reports turns.
package acp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// longestLine bounds a message of an agent: one with a file of some megabytes fits.
const longestLine = 64 << 20

// message is a line in either direction: a request (Method and ID), a notification (Method), or the
// response to a request (ID).
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is how an agent refuses a request.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// UnmarshalJSON takes what is no error object, or has no message, for the message.
func (e *Error) UnmarshalJSON(raw []byte) error {
	type fields Error
	_ = json.Unmarshal(raw, (*fields)(e))
	e.Message = cmp.Or(e.Message, string(raw))
	return nil
}

func (e *Error) Error() string {
	var data struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	var text string
	if json.Unmarshal(e.Data, &text) != nil && json.Unmarshal(e.Data, &data) == nil {
		text = data.Details + data.Message
	}
	if text != "" && text != e.Message {
		return e.Message + ": " + text
	}
	return e.Message
}

// Codes of errors.
const (
	codeNoMethod = -32601
	codeNoLogin  = -32000
)

// Client exchanges messages with one agent.
type Client struct {
	// told is called with the agent's notifications and requests, in their order and not concurrently;
	// of a notification id is nil. A request is refused where it returns false. What an agent has sent
	// before a response was told before the response is.
	told func(method string, id, params json.RawMessage) bool

	mu      sync.Mutex
	last    int
	waiting map[string]chan message
	lines   [][]byte      // to write
	more    chan struct{} // there are lines
	gone    error         // why the agent will not answer any more, nil while it may
	over    chan struct{} // closed then
}

// NewClient returns a client that reads nothing before Read, and writes nothing before Write.
func NewClient(told func(method string, id, params json.RawMessage) bool) *Client {
	return &Client{told: told, waiting: map[string]chan message{}, more: make(chan struct{}, 1), over: make(chan struct{})}
}

// Over is closed when the agent says nothing any more.
func (c *Client) Over() <-chan struct{} { return c.over }

// Read reads what the agent says until that ends; calls that wait then fail.
func (c *Client) Read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var m message
		_ = json.Unmarshal(lines.Bytes(), &m) // what has another type stays empty, and so does all of a program's chatter
		c.take(m)
	}
	c.mu.Lock()
	c.gone = errors.New("it has ended")
	if lines.Err() != nil {
		c.gone = fmt.Errorf("what it says cannot be read: %w", lines.Err())
	}
	c.mu.Unlock()
	close(c.over)
}

func (c *Client) take(m message) {
	if m.Method != "" {
		if !c.told(m.Method, m.ID, m.Params) && m.ID != nil {
			c.write(message{ID: m.ID, Error: &Error{Code: codeNoMethod, Message: "paw does not offer " + m.Method}})
		}
		return
	}
	id := strings.Trim(string(m.ID), `"`)
	c.mu.Lock()
	answer, asked := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if asked { // an agent may also answer what nobody has asked
		answer <- m
	}
}

// Call sends a request and decodes into result, which may be nil, what can be read of the answer. The error is an *Error where the
// agent refused.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.Ask(method, params)(ctx, result)
}

// Ask is like Call: the request is in the row of what is sent when Ask returns, and the function waits
// for the answer.
func (c *Client) Ask(method string, params any) func(ctx context.Context, result any) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := fmt.Sprint(c.last)
	c.waiting[id] = answer
	c.mu.Unlock()
	c.write(message{ID: json.RawMessage(id), Method: method, Params: encoded(params)})
	return func(ctx context.Context, result any) error {
		select {
		case m := <-answer:
			return decode(m, result)
		case <-c.over:
			select {
			case m := <-answer: // the last that it said
				return decode(m, result)
			default:
				return fmt.Errorf("%s: %w", method, c.gone)
			}
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", method, context.Cause(ctx))
		}
	}
}

func decode(m message, result any) error {
	if m.Error != nil {
		return m.Error
	}
	if result != nil {
		_ = json.Unmarshal(m.Result, result)
	}
	return nil
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	c.write(message{Method: method, Params: encoded(params)})
}

// Respond answers a request of the agent.
func (c *Client) Respond(id json.RawMessage, result any) {
	c.write(message{ID: id, Result: encoded(result)})
}

func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("acp: %v", err)) // maps and texts can be encoded
	}
	return text
}

// mostLines bounds what waits for an agent that does not read. It asks in vain then.
const mostLines = 10_000

// write puts a line into the row of what Write writes.
func (c *Client) write(m message) {
	m.JSONRPC = "2.0"
	c.mu.Lock()
	if len(c.lines) < mostLines {
		c.lines = append(c.lines, append(encoded(m), '\n'))
	}
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// Write writes what is sent until the agent says nothing any more, and closes to. No other method
// waits for an agent that does not read.
func (c *Client) Write(to io.WriteCloser) {
	defer func() { _ = to.Close() }()
	for {
		select {
		case <-c.more:
		case <-c.over:
			return
		}
		c.mu.Lock()
		lines := c.lines
		c.lines = nil
		c.mu.Unlock()
		for _, line := range lines {
			if _, err := to.Write(line); err != nil {
				return
			}
		}
	}
}
