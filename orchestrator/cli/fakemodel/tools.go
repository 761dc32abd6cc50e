package fakemodel

import (
	"encoding/json"
	"path"
	"strings"
)

// tool is a tool that the CLI offers in a request.
type tool struct {
	name       string
	free       bool // takes text instead of JSON arguments
	parameters schema
}

// call is a tool call of the model.
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

// callFor turns an action into a call of one of the request's tools; false when none fits.
func (q request) callFor(a action) (call, bool) {
	if a.verb == "write" {
		if c, ok := q.write(a); ok {
			return c, true
		}
		a = a.asShell()
	}
	if a.verb == "tool" {
		return q.named(a)
	}
	for _, shell := range shells {
		if t, ok := q.tools[shell.name]; ok {
			return t.run(a, shell.command), true
		}
	}
	return call{}, false
}

// named calls the tool that the action names, such as one that asks the user.
func (q request) named(a action) (call, bool) {
	t, ok := q.tools[a.path]
	if !ok {
		return call{}, false
	}
	arguments := map[string]any{}
	if a.text != "" && json.Unmarshal([]byte(a.text), &arguments) != nil {
		return call{}, false
	}
	return t.call(arguments), true
}

// write calls a tool that writes files. Most want absolute paths, for which the request must tell
// the directory. A file that the model has not read is overwritten by the shell instead.
func (q request) write(a action) (call, bool) {
	if q.refusedWrite {
		return call{}, false
	}
	if t, ok := q.tools["apply_patch"]; ok && !path.IsAbs(a.path) {
		return t.patch(a), true
	}
	file := a.path
	if !path.IsAbs(file) {
		if q.directory == "" {
			return call{}, false
		}
		file = path.Join(q.directory, file)
	}
	for _, w := range writers {
		if t, ok := q.tools[w.name]; ok {
			return t.call(map[string]any{w.path: file, w.content: a.text}), true
		}
	}
	return call{}, false
}

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
