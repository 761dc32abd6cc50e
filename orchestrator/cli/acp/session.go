package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Session is a conversation that an agent has opened.
type Session struct {
	ID     string `json:"id"`
	Agent  string `json:"agent,omitempty"`  // name that the program gives itself
	Loads  bool   `json:"loads"`            // the agent can open it again
	Anew   string `json:"anew,omitempty"`   // why it is a fresh one, and not the one asked for
	Before string `json:"before,omitempty"` // the session that was asked for
}

type object = map[string]any

// version is the version of the protocol that the client speaks.
const version = 1

// Open begins a conversation in a folder or, unless before is "", opens that one again: by
// session/load, else by session/resume, else as a fresh one. What the agent repeats meanwhile of the
// conversation is told, too.
func (c *Client) Open(ctx context.Context, folder, before string) (Session, error) {
	var agent struct {
		Version      int `json:"protocolVersion"`
		Capabilities struct {
			Load    bool `json:"loadSession"`
			Session struct {
				Resume json.RawMessage `json:"resume"`
			} `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
		Info struct {
			Name string `json:"name"`
		} `json:"agentInfo"`
		Logins []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"authMethods"`
	}
	capabilities := object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false}
	if err := c.Call(ctx, "initialize", object{
		"protocolVersion": version, "clientCapabilities": capabilities, "clientInfo": object{"name": "paw", "version": "1"},
	}, &agent); err != nil {
		return Session{}, err
	}
	if agent.Version != version {
		return Session{}, fmt.Errorf("it speaks version %d of the protocol, and paw version %d", agent.Version, version)
	}
	resumes := len(agent.Capabilities.Session.Resume) > 0 && string(agent.Capabilities.Session.Resume) != "null"
	session := Session{ID: before, Agent: agent.Info.Name, Loads: agent.Capabilities.Load || resumes}
	if before != "" {
		err := errors.New("it cannot open a conversation again")
		for _, way := range []struct {
			method string
			known  bool
		}{{"session/load", agent.Capabilities.Load}, {"session/resume", resumes}} {
			if !way.known {
				continue
			}
			if err = c.Call(ctx, way.method, object{"sessionId": before, "cwd": folder, "mcpServers": []any{}}, nil); err == nil {
				return session, nil
			}
		}
		if _, refused := errors.AsType[*Error](err); session.Loads && !refused {
			return Session{}, err
		}
		session.Anew, session.Before = err.Error(), before
	}
	var made struct {
		ID string `json:"sessionId"`
	}
	err := c.Call(ctx, "session/new", object{"cwd": folder, "mcpServers": []any{}}, &made)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == codeNoLogin {
		var ways []string
		for _, login := range agent.Logins {
			ways = append(ways, login.Name+" ("+login.Description+")")
		}
		return Session{}, fmt.Errorf("it asks for a login: %s", strings.Join(append(ways, refused.Error()), "; "))
	}
	if err == nil && made.ID == "" {
		err = errors.New("session/new: the answer names no session")
	}
	session.ID = made.ID
	return session, err
}
