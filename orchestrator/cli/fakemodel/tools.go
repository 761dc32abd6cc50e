package fakemodel

import (
	"encoding/json"
	"path"
	"strings"
)

// tool is one of those that a request offers.
type tool struct {
	name       string
	free       bool // takes text in place of JSON arguments
	parameters schema
}

// call is what the model wants done.
type call struct {
	tool      string
	free      bool
	input     string         // of a free tool
	arguments map[string]any // of any other
}

// shells are the tools that run a command, by name, with the argument that holds it.
var shells = []struct{ name, command string }{
	{"exec_command", "cmd"},          // codex
	{"shell_command", "command"},     // codex
	{"shell", "command"},             // older codex
	{"Bash", "command"},              // claude
	{"bash", "command"},              // opencode, copilot
	{"run_shell_command", "command"}, // gemini, qwen
}

// writers are the tools that write a whole file, by name, with the arguments for its path and its content.
var writers = []struct{ name, path, content string }{
	{"Write", "file_path", "content"},      // claude
	{"write", "filePath", "content"},       // opencode
	{"write_file", "file_path", "content"}, // gemini, qwen
	{"create", "path", "file_text"},        // copilot
}

// AskPrefix begins each command of a step `ask`. Prepare tells the CLIs to ask before such a command, and only then.
const AskPrefix = "env PAW_ASK=1 "

// callFor maps an action to a tool of the request, false when it offers none that fits.
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

// named calls a tool of the CLI's own by its name, such as one that asks the user something.
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

// write uses a tool for files. They want absolute paths, so it takes a request that tells the directory; and a file that
// the model has not read is only overwritten by the shell.
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

// run is the call of a shell tool. One that wants a list of words gets the words of a shell.
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

// patch is a call in the patch language of codex. Adding a file that exists replaces it.
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
