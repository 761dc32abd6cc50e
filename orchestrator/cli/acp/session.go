package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Session is a conversation that an agent has opened.
type Session struct {
	ID    string    `json:"id"`
	Agent string    `json:"agent,omitempty"` // name that the program gives itself
	Loads bool      `json:"loads"`           // the agent can open it again
	Anew  string    `json:"-"`               // why it is a fresh one, and not the one asked for
	Began time.Time `json:"began,omitzero"`
}

type object = map[string]any

// version is the version of the protocol that the client speaks.
const version = 1

// about is the result of initialize.
type about struct {
	Version int `json:"protocolVersion"`
	Info    struct {
		Name string `json:"name"`
	} `json:"agentInfo"`
	Capabilities struct {
		Load    bool `json:"loadSession"`
		Session struct {
			Resume *object `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Logins []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"authMethods"`
}

// Open begins a conversation in a folder or, unless before is "", opens that one again: by
// session/load, else by session/resume, else as a fresh one. What the agent repeats meanwhile of the
// conversation is told, too.
func (c *Client) Open(ctx context.Context, folder, before string) (Session, error) {
	var agent about
	capabilities := object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false}
	if err := c.Call(ctx, "initialize", object{
		"protocolVersion": version, "clientCapabilities": capabilities, "clientInfo": object{"name": "paw", "version": "1"},
	}, &agent); err != nil {
		return Session{}, err
	}
	if agent.Version != version {
		return Session{}, fmt.Errorf("it speaks version %d of the protocol, and paw version %d", agent.Version, version)
	}
	loads, resumes := agent.Capabilities.Load, agent.Capabilities.Session.Resume != nil
	session := Session{ID: before, Agent: agent.Info.Name, Loads: loads || resumes}
	if before != "" {
		err := errors.New("it cannot open a conversation again")
		if loads {
			err = c.again(ctx, "session/load", folder, before)
		}
		if err != nil && resumes {
			err = c.again(ctx, "session/resume", folder, before)
		}
		if err == nil {
			return session, nil
		}
		if _, refused := errors.AsType[*Error](err); session.Loads && !refused {
			return Session{}, err
		}
		session.Anew = err.Error()
	}
	var made struct {
		ID string `json:"sessionId"`
	}
	err := c.Call(ctx, "session/new", object{"cwd": folder, "mcpServers": []any{}}, &made)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == codeNoLogin {
		return Session{}, fmt.Errorf("it asks for a login: %s", agent.logins(refused))
	}
	if err == nil && made.ID == "" {
		err = errors.New("session/new: the answer names no session")
	}
	session.ID = made.ID
	return session, err
}

func (c *Client) again(ctx context.Context, method, folder, session string) error {
	return c.Call(ctx, method, object{"sessionId": session, "cwd": folder, "mcpServers": []any{}}, nil)
}

// logins lists the ways to log in, and the agent's own words.
func (a about) logins(refused *Error) string {
	var ways []string
	for _, login := range a.Logins {
		ways = append(ways, login.Name+" ("+login.Description+")")
	}
	return strings.Join(append(ways, refused.Error()), "; ")
}
