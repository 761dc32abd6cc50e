// Package mcp serves tools to a program that speaks the Model Context Protocol: one JSON-RPC message
// a line, on standard input and output. It knows nothing of agents.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
)

// Versions of the protocol, the newest first. They differ in nothing that this server does.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// What a client can make a server hold.
const (
	maxLine  = 1 << 20 // bytes of one message
	maxCalls = 16      // calls of tools at the same time
)

// Codes of errors of JSON-RPC.
const (
	notJSON     = -32700
	noRequest   = -32600
	noMethod    = -32601
	wrongParams = -32602
)

// Server answers one client.
type Server struct {
	Name, Version string
	Instructions  string // what the client's model is told of all tools
	Tools         []Tool

	out    io.Writer
	mu     sync.Mutex                    // guards all below, and out
	calls  map[string]context.CancelFunc // by the id of the request
	failed error                         // the first error of out
}

// message is a request, or without an ID a notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type object = map[string]any

// Serve answers the messages of in until it ends, and cancels what is under way then.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s.out, s.calls = out, map[string]context.CancelFunc{}
	ctx, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		var m message
		switch err := json.Unmarshal(line, &m); {
		case len(line) == 0:
		case !json.Valid(line):
			s.refuse(nil, notJSON, "not JSON")
		case err != nil: // such as a list of messages, which newer versions do not have
			s.refuse(nil, noRequest, "not a request")
		case m.Method == "": // an answer, and this server asks nothing
		case len(m.ID) == 0 || string(m.ID) == "null":
			s.notified(m)
		case m.Method == "tools/call":
			s.begin(ctx, &calls, m)
		default:
			s.answer(m)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(lines.Err(), s.failed)
}

// answer answers what needs no time.
func (s *Server) answer(m message) {
	switch m.Method {
	case "initialize":
		var asked struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &asked)
		if !slices.Contains(versions, asked.Version) {
			asked.Version = versions[0]
		}
		s.reply(m.ID, object{
			"protocolVersion": asked.Version, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": s.Name, "version": s.Version}, "instructions": s.Instructions,
		})
	case "ping":
		s.reply(m.ID, object{})
	case "tools/list":
		all := []object{}
		for _, t := range s.Tools {
			all = append(all, t.described())
		}
		s.reply(m.ID, object{"tools": all})
	default:
		s.refuse(m.ID, noMethod, "no such method: "+m.Method)
	}
}

// notified takes a notification. One that cancels a call ends it, and the call is not answered.
func (s *Server) notified(m message) {
	var of struct {
		ID json.RawMessage `json:"requestId"`
	}
	if m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &of) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.calls[string(of.ID)]; cancel != nil {
		delete(s.calls, string(of.ID))
		cancel()
	}
}

// begin begins a call of a tool, which is answered when it has ended.
func (s *Server) begin(ctx context.Context, calls *sync.WaitGroup, m message) {
	var asked struct {
		Name      string                     `json:"name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(m.Params, &asked) != nil {
		s.refuse(m.ID, wrongParams, "tools/call takes a name and arguments")
		return
	}
	at := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == asked.Name })
	if at < 0 {
		s.refuse(m.ID, wrongParams, "no such tool: "+asked.Name)
		return
	}
	tool := s.Tools[at]
	arguments, err := tool.read(asked.Arguments)
	if err != nil {
		s.refuse(m.ID, wrongParams, err.Error())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	if !s.enter(string(m.ID), cancel) {
		cancel()
		s.refuse(m.ID, noRequest, "too many calls are not answered yet, or this one")
		return
	}
	calls.Go(func() {
		defer cancel()
		text, failed := tool.Run(ctx, arguments)
		if s.leave(string(m.ID)) {
			s.reply(m.ID, object{"content": []object{{"type": "text", "text": text}}, "isError": failed})
		}
	})
}

// enter notes a call that begins, unless one of this id is under way, or too many are.
func (s *Server) enter(id string, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[id] != nil || len(s.calls) >= maxCalls {
		return false
	}
	s.calls[id] = cancel
	return true
}

// leave reports whether a call that has ended is to be answered.
func (s *Server) leave(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, wanted := s.calls[id]
	delete(s.calls, id)
	return wanted
}

func (s *Server) reply(id json.RawMessage, result object) {
	s.write(object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *Server) refuse(id json.RawMessage, code int, why string) {
	s.write(object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": why}})
}

func (s *Server) write(value object) {
	line, err := json.Marshal(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.failed == nil {
		_, err = s.out.Write(append(line, '\n'))
	}
	s.failed = errors.Join(s.failed, err)
}
