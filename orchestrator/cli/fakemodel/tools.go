package fakemodel

import (
	"encoding/json"
	"strings"
)

// schema is the part of a JSON schema that is needed to make up a value.
type schema struct {
	Type       json.RawMessage   `json:"type"` // a name of a type or a list of names; Gemini writes the names in capitals
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Minimum    float64           `json:"minimum"`
}

// kind returns the first type that is not null, in lower case; "" when none is given.
func (s schema) kind() string {
	var names []string
	if json.Unmarshal(s.Type, &names) != nil {
		names = make([]string, 1)
		_ = json.Unmarshal(s.Type, &names[0]) // neither a list nor a name means any type
	}
	for _, name := range names {
		if name = strings.ToLower(name); name != "null" {
			return name
		}
	}
	return ""
}

// value makes up a value that fits the schema.
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

// fill adds arguments that the schema requires, so that a version of a CLI that wants one more
// argument still works.
func (s schema) fill(arguments map[string]any) map[string]any {
	for _, name := range s.Required {
		if _, ok := arguments[name]; !ok {
			arguments[name] = s.Properties[name].value()
		}
	}
	return arguments
}

// tool is a tool that the CLI offers in a request.
type tool struct {
	name       string
	free       bool // takes text instead of JSON arguments
	parameters schema
}

type call struct {
	tool      string
	free      bool
	input     string         // input of a tool with free input
	arguments map[string]any // arguments of any other tool
}

// shells lists the tools that run a command, with the argument for the command.
var shells = []struct{ name, command string }{
	{"exec_command", "cmd"},          // codex
	{"shell_command", "command"},     // codex
	{"shell", "command"},             // older codex
	{"Bash", "command"},              // claude
	{"bash", "command"},              // opencode, copilot
	{"run_shell_command", "command"}, // gemini, qwen
}

// writers lists the tools that write a whole file, with the arguments for its path and content.
var writers = []struct{ name, path, content string }{
	{"Write", "file_path", "content"},      // claude
	{"write", "filePath", "content"},       // opencode
	{"write_file", "file_path", "content"}, // gemini, qwen
	{"create", "path", "file_text"},        // copilot
}

// AskPrefix begins every command of a step ask. Prepare configures the CLIs to ask for permission
// before such commands only.
const AskPrefix = "env PAW_ASK=1 "

func (t tool) call(arguments map[string]any) call {
	return call{tool: t.name, arguments: t.parameters.fill(arguments)}
}

// run calls a shell tool. A tool that wants a list of words gets `sh -c COMMAND`.
func (t tool) run(a action, argument string) call {
	command := a.text
	if a.verb == "ask" {
		command = AskPrefix + "sh -c " + quote(command)
	}
	arguments := map[string]any{argument: command}
	if t.parameters.Properties[argument].kind() == "array" {
		arguments[argument] = []string{"sh", "-c", command}
	}
	if _, ok := t.parameters.Properties["sandbox_permissions"]; ok && a.verb == "ask" { // codex
		arguments["sandbox_permissions"] = "require_escalated"
		arguments["justification"] = "the script asks for permission"
	}
	return t.call(arguments)
}

// patch calls codex's patch tool. Adding a file that exists replaces it.
func (t tool) patch(a action) call {
	var text strings.Builder
	text.WriteString("*** Begin Patch\n*** Add File: " + a.path + "\n")
	for line := range strings.Lines(a.text) {
		text.WriteString("+" + line)
	}
	text.WriteString("*** End Patch\n")
	if t.free {
		return call{tool: t.name, free: true, input: text.String()}
	}
	argument := "input"
	for _, name := range t.parameters.Required {
		argument = name
	}
	return t.call(map[string]any{argument: text.String()})
}
