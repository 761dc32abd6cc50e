package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Tool is what a client's model can call.
type Tool struct {
	Name, About string
	Reads       bool // it changes nothing
	Parameters  []Parameter
	// Run returns what the model reads, and whether the call has failed. arguments has a value for each
	// parameter that was given: a text, or "true" for a switch.
	Run func(ctx context.Context, arguments map[string]string) (text string, failed bool)
}

// Parameter is a text, or a switch, that a call of a tool takes.
type Parameter struct {
	Name, About string
	Needed      bool
	Switch      bool // true or false
}

// described returns the tool as a client reads it.
func (t Tool) described() object {
	properties, needed := object{}, []string{}
	for _, p := range t.Parameters {
		kind := "string"
		if p.Switch {
			kind = "boolean"
		}
		properties[p.Name] = object{"type": kind, "description": p.About}
		if p.Needed {
			needed = append(needed, p.Name)
		}
	}
	return object{
		"name": t.Name, "description": t.About, "annotations": object{"readOnlyHint": t.Reads, "destructiveHint": false, "openWorldHint": false},
		"inputSchema": object{"type": "object", "properties": properties, "required": needed, "additionalProperties": false},
	}
}

// read returns the arguments of a call. An empty text, and null, is no argument: models fill in what they do not need.
func (t Tool) read(given map[string]json.RawMessage) (map[string]string, error) {
	arguments := map[string]string{}
	for name, value := range given {
		at := slices.IndexFunc(t.Parameters, func(p Parameter) bool { return p.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("%s: no such argument: %s", t.Name, name)
		}
		var text string
		var on bool
		switch {
		case string(value) == "null":
		case t.Parameters[at].Switch && json.Unmarshal(value, &on) == nil:
			if on {
				arguments[name] = "true"
			}
		case !t.Parameters[at].Switch && json.Unmarshal(value, &text) == nil:
			if text != "" {
				arguments[name] = text
			}
		default:
			return nil, fmt.Errorf("%s: argument %s is of another type", t.Name, name)
		}
	}
	for _, p := range t.Parameters {
		if p.Needed && arguments[p.Name] == "" {
			return nil, fmt.Errorf("%s: argument %s is missing", t.Name, p.Name)
		}
	}
	return arguments, nil
}
