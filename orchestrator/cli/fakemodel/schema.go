package fakemodel

import (
	"encoding/json"
	"strings"
)

// schema is the part of a JSON schema that is needed to make up a value.
type schema struct {
	Type       json.RawMessage   `json:"type"` // a name or a list of names; Gemini writes them in capitals
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Minimum    float64           `json:"minimum"`
}

// kind is the first type that is not null, in small letters; "" when none is given.
func (s schema) kind() string {
	var names []string
	if json.Unmarshal(s.Type, &names) != nil {
		names = make([]string, 1)
		_ = json.Unmarshal(s.Type, &names[0]) // neither a list nor a name: any type
	}
	for _, name := range names {
		if name = strings.ToLower(name); name != "null" {
			return name
		}
	}
	return ""
}

// value makes up something that fits.
func (s schema) value() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.kind() {
	case "object", "":
		object := map[string]any{}
		for _, name := range s.Required {
			object[name] = s.Properties[name].value()
		}
		return object
	case "array":
		return []any{}
	case "boolean":
		return false
	case "number", "integer":
		return max(s.Minimum, 1)
	}
	return "scripted"
}

// fill adds what the schema requires and arguments lacks, so that a version of a CLI that wants one more argument is
// still served.
func (s schema) fill(arguments map[string]any) map[string]any {
	for _, name := range s.Required {
		if _, ok := arguments[name]; !ok {
			arguments[name] = s.Properties[name].value()
		}
	}
	return arguments
}
