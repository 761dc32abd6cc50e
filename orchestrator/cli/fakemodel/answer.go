package fakemodel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/cli/internal/steps"
)

// Model is the name of the scripted model. Requests may use any name.
const Model = "scripted-model"

// answer is the model's reply to one request: a text, then at most one action, or a fault.
type answer struct {
	delay  time.Duration // time before the first byte
	text   string
	spread time.Duration // time over which the text is streamed
	action action        // an empty verb ends the turn
	fault  fault
	status int           // HTTP status of faultStatus
	lifted time.Duration // time until the limit of faultLimit is lifted
}

// Bill has the tokens of an answer, which each protocol reports in its own fields.
type Bill struct {
	Input      int64 // tokens, without those from a cache
	CacheRead  int64
	CacheWrite int64 // always 0 in the protocols of OpenAI and Gemini, which do not report it
	Output     int64
}

// Add adds the tokens of another answer.
func (b *Bill) Add(other Bill) {
	b.Input, b.CacheRead, b.CacheWrite, b.Output = b.Input+other.Input, b.CacheRead+other.CacheRead, b.CacheWrite+other.CacheWrite, b.Output+other.Output
}

// read returns the input tokens including those from a cache, as all protocols but Anthropic's
// count them.
func (b Bill) read() int64 { return b.Input + b.CacheRead }

// action is work that the CLI does for the model, with one of the CLI's tools.
type action struct {
	verb string // "run", "ask" or "tool"
	name string // of the tool, for the verb tool
	text string // command, or arguments of the tool in JSON
}

type fault string

const (
	faultStatus fault = "status" // an HTTP error with the text as its message
	faultLimit  fault = "limit"  // the vendor's answer when a usage limit is reached
	faultDrop   fault = "drop"   // the connection breaks within the text
	faultHang   fault = "hang"   // half the text, then nothing until the client disconnects
)

// unfinished is the text of an answer that breaks off.
const unfinished = "This answer will not be"

// side answers requests that a CLI makes for itself, for a title or a summary.
const side = "Scripted title"

// script returns the answers that a prompt asks for, one per request of the turn. Texts and delays
// belong to the request that the next action, or the end of the turn, answers.
func script(prompt string) []answer {
	all, err := grammar.Parse(prompt)
	if err != nil {
		return []answer{{fault: faultStatus, status: 400, text: err.Error()}}
	}
	if len(all) == 0 {
		line := display.FirstLine(prompt) // written into NOTES.md
		all = []steps.Step{
			{Verb: "append", Path: "NOTES.md", Text: line},
			{Verb: "outcome", Text: "success"},
			{Verb: "commit", Text: clip(line, 60)},
			{Verb: "say", Text: "Done: " + line},
		}
	}
	var answers []answer
	var next answer
	var outcome string
	for _, s := range all {
		switch s.Verb {
		case "say", "slow":
			next.text = strings.TrimPrefix(next.text+"\n"+s.Text, "\n")
			next.spread += s.Duration
		case "sleep":
			next.delay += s.Duration
		case "outcome":
			outcome = s.Text
		case "fail":
			next.text, next.fault, next.status = s.Text, faultStatus, s.Number
		case "limit":
			next.fault, next.lifted = faultLimit, s.Duration
		case "drop":
			next.fault = faultDrop
		case "hang":
			next.fault = faultHang
		default:
			next.action = actionOf(s, outcome)
			if s.Verb == "commit" {
				outcome = ""
			}
		}
		if next.fault != "" {
			if next.text == "" {
				next.text = unfinished
			}
			return append(answers, next)
		}
		if next.action.verb != "" {
			answers = append(answers, next)
			next = answer{}
		}
	}
	if next.text == "" {
		next.text = "OK."
	}
	return append(answers, next)
}

// answerTo returns the answer that follows that many tool results. A CLI that sends further
// requests gets the last answer again.
func answerTo(prompt string, results int) answer {
	answers := script(prompt)
	if results < len(answers) {
		return answers[results]
	}
	last := answers[len(answers)-1]
	last.delay, last.spread = 0, 0
	return last
}

// actionOf turns a step into an action. All work is a shell command: tools that write and edit differ from CLI to CLI, and want a file
// to be read first.
func actionOf(s steps.Step, outcome string) action {
	switch s.Verb {
	case "write":
		return action{verb: "run", text: redirect(s.Path, s.Text, ">")}
	case "append":
		return action{verb: "run", text: redirect(s.Path, s.Text, ">>")}
	case "remove":
		return action{verb: "run", text: "rm -- " + quote(s.Path)}
	case "commit":
		command := "git add --all && git commit --quiet -m " + quote(s.Text)
		if outcome != "" {
			command += " -m " + quote("outcome: "+outcome)
		}
		return action{verb: "run", text: command}
	}
	return action{verb: s.Verb, name: s.Path, text: s.Text}
}

// redirect returns the command that writes text and a newline into a file.
func redirect(path, text, operator string) string {
	command := "printf '%s\\n' " + quote(text) + " " + operator + " " + quote(path)
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		command = "mkdir -p " + quote(path[:i]) + " && " + command
	}
	return command
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// clip cuts text to n characters.
func clip(text string, n int) string {
	runes := []rune(text)
	return strings.TrimSpace(string(runes[:min(len(runes), n)]))
}

// grammar defines the steps of a prompt. Step.Path is a file, or the tool's name in a step tool;
// Step.Number is the HTTP status in a step fail.
var grammar = steps.Grammar{
	"write": steps.PathAndText, "append": steps.PathAndText, "remove": steps.Path,
	"run": steps.Text("command"), "ask": steps.Text("command"), "tool": toolCall,
	"commit": steps.Text("message"), "outcome": steps.Text("word"), "sleep": steps.Seconds, "slow": slowly, "fail": failure, "limit": steps.Seconds,
	"say": steps.Anything, "drop": steps.Anything, "hang": steps.Anything,
}

// toolCall reads the name of a tool and its arguments.
func toolCall(s *steps.Step) error {
	s.Path, s.Text, _ = strings.Cut(s.Text, " ")
	if s.Text != "" && !json.Valid([]byte(s.Text)) {
		return fmt.Errorf("do: tool %s: the arguments are not JSON: %s", s.Path, s.Text)
	}
	return s.Need(s.Path, "name")
}

// slowly reads the seconds over which a text is streamed, and the text.
func slowly(s *steps.Step) error {
	seconds, text, _ := strings.Cut(s.Text, " ")
	s.Text = text
	return s.Wait(seconds)
}

// failure reads an HTTP status from the first word, if that is one. The default is 400, which no
// CLI retries.
func failure(s *steps.Step) error {
	s.Number = 400
	word, rest, _ := strings.Cut(s.Text, " ")
	if code, err := strconv.Atoi(word); err == nil && code >= 400 && code <= 599 {
		s.Number, s.Text = code, strings.TrimSpace(rest)
	}
	if s.Text == "" {
		s.Text = fmt.Sprintf("scripted error %d", s.Number)
	}
	return nil
}

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
	parameters schema
	space      string // its namespace, "" for none
}

type call struct {
	tool      string
	space     string
	arguments map[string]any
}

// shells lists the tools that run a command, with the argument for the command.
var shells = []struct{ name, command string }{
	{"exec_command", "cmd"},          // codex
	{"shell_command", "command"},     // codex
	{"Bash", "command"},              // claude
	{"bash", "command"},              // opencode, copilot, pi
	{"run_shell_command", "command"}, // gemini, qwen
}

// AskPrefix begins every command of a step ask. Prepare configures the CLIs to ask for permission
// before such commands only.
const AskPrefix = "env PAW_ASK=1 "

func (t tool) call(arguments map[string]any) call {
	return call{tool: t.name, space: t.space, arguments: t.parameters.fill(arguments)}
}

// run calls a shell tool.
func (t tool) run(a action, argument string) call {
	command := a.text
	if a.verb == "ask" {
		command = AskPrefix + "sh -c " + quote(command)
	}
	arguments := map[string]any{argument: command}
	if _, ok := t.parameters.Properties["sandbox_permissions"]; ok && a.verb == "ask" { // codex
		arguments["sandbox_permissions"] = "require_escalated"
		arguments["justification"] = "the script asks for permission"
	}
	return t.call(arguments)
}
