package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// client talks with a server.
type client struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error
}

func newClient(t *testing.T, tools ...Tool) *client {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t, toServer, bufio.NewScanner(fromServer), make(chan error, 1)}
	s := Server{Name: "paw", Version: "1", Tools: tools}
	go func() {
		c.done <- s.Serve(t.Context(), in, out)
		out.Close()
	}()
	return c
}

func (c *client) send(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Error(err)
	}
}

// next returns the next answer, "" after the last.
func (c *client) next() string {
	c.out.Scan()
	return c.out.Text()
}

func (c *client) expect(line, want string) {
	c.t.Helper()
	c.send(line)
	var got, wanted any
	if text := c.next(); json.Unmarshal([]byte(text), &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil || !cmp.Equal(got, wanted) {
		c.t.Errorf("%s\ngot  %s\nwant %s", line, text, want)
	}
}

var echo = Tool{
	Name: "echo", About: "says it again", Reads: true,
	Parameters: []Parameter{{Name: "text", About: "what", Needed: true}, {Name: "loud", About: "how", Switch: true}},
	Run: func(_ context.Context, given map[string]string) (string, bool) {
		return given["text"] + given["loud"], given["text"] == "fail"
	},
}

func TestAnswers(t *testing.T) {
	c := newClient(t, echo)
	for _, one := range [][2]string{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"paw","version":"1"},"instructions":""}}`},
		{`{"jsonrpc":"2.0","id":"x","method":"ping"}`, `{"jsonrpc":"2.0","id":"x","result":{}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","description":"says it again",
			"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false},
			"inputSchema":{"type":"object","additionalProperties":false,"required":["text"],
				"properties":{"text":{"type":"string","description":"what"},"loud":{"type":"boolean","description":"how"}}}}]}}`},
		{call(3, `{"text":"a\u0007b","loud":true}`), said(3, `a\u0007btrue`, "false")},
		{call(4, `{"text":"fail","loud":null}`), said(4, "fail", "true")},
		{call(5, `{"text":""}`), refused(5, -32602, "echo: argument text is missing")},
		{call(6, `{"text":7}`), refused(6, -32602, "echo: argument text is of another type")},
		{call(7, `{"text":"a","loud":"yes"}`), refused(7, -32602, "echo: argument loud is of another type")},
		{call(8, `{"text":"a","other":"yes"}`), refused(8, -32602, "echo: no such argument: other")},
		{call(9, `[]`), refused(9, -32602, "tools/call takes a name and arguments")},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"rm"}}`, refused(10, -32602, "no such tool: rm")},
		{`{"jsonrpc":"2.0","id":11,"method":"resources/list"}`, refused(11, -32601, "no such method: resources/list")},
		{`{"jsonrpc":"2.0",`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a request"}}`},
		{"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + call(12, `{"text":"last"}`), said(12, "last", "false")},
	} {
		c.expect(one[0], one[1])
	}
	c.in.Close()
	if rest, err := c.next(), <-c.done; rest != "" || err != nil {
		t.Errorf("at the end: %q, %v", rest, err)
	}
}

func call(id int, arguments string) string {
	return encoded(id) + `,"method":"tools/call","params":{"name":"echo","arguments":` + arguments + `}}`
}

func said(id int, text, failed string) string {
	return encoded(id) + `,"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":` + failed + `}}`
}

func refused(id, code int, why string) string {
	answer, _ := json.Marshal(object{"code": code, "message": why})
	return encoded(id) + `,"error":` + string(answer) + `}`
}

func encoded(id int) string {
	text, _ := json.Marshal(id)
	return `{"jsonrpc":"2.0","id":` + string(text)
}

// Calls run beside each other. One that is cancelled ends without an answer, and the end of the input ends all.
func TestCallsThatTakeLong(t *testing.T) {
	began, ended := make(chan string), make(chan string, 100)
	long := Tool{Name: "echo", Parameters: echo.Parameters, Run: func(ctx context.Context, given map[string]string) (string, bool) {
		began <- given["text"]
		<-ctx.Done()
		ended <- given["text"]
		return "cut", true
	}}
	c := newClient(t, long)
	c.send(call(1, `{"text":"one"}`))
	<-began
	c.expect(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	c.expect(call(1, `{"text":"two"}`), refused(1, -32600, "too many calls are not answered yet, or this one"))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if one := <-ended; one != "one" {
		t.Errorf("%s was cancelled", one)
	}
	for id := range maxCalls {
		c.send(call(100+id, `{"text":"many"}`))
		<-began
	}
	c.expect(call(3, `{"text":"one more"}`), refused(3, -32600, "too many calls are not answered yet, or this one"))
	c.in.Close()
	for range maxCalls {
		if text := c.next(); !strings.Contains(text, `"text":"cut"`) {
			t.Errorf("at the end: %q", text)
		}
	}
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

func TestALineThatIsTooLongEndsTheServer(t *testing.T) {
	c := newClient(t, echo)
	go c.send(call(1, `{"text":"`+strings.Repeat("x", maxLine)+`"}`))
	select {
	case err := <-c.done:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}
