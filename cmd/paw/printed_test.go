package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"paw/config"
	"paw/orchestrator/errs"
)

// U+0080 to U+009F, which some terminals take for control characters, are escaped in JSON: the
// value stays the same.
func TestJSONHasNoControlCharacters(t *testing.T) {
	text := "a\u009b31mb\u0080\u009f\u00a0ä€\u061b\x7f"
	for name, print := range map[string]func(a *invocation){
		"output": func(a *invocation) { _ = a.printJSON(map[string]string{"prompt": text}) },
		"error":  func(a *invocation) { a.printError(errs.New(errs.Usage, "%s", text)) },
	} {
		var out bytes.Buffer
		print(&invocation{printer: printer{stdout: &out, stderr: &out, json: true}})
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("%s: %q", name, out.String())
		}
		var back map[string]any
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["prompt"] != text && back["error"] != text {
			t.Errorf("%s: %v %v", name, back, err)
		}
	}
}

// A command of many lines can neither look like the setting of another command, nor scroll the
// question off the screen.
func TestQuestionOfTrustNamesEveryLine(t *testing.T) {
	asked := []config.Command{{Key: "worktree.setup", Text: "rm -rf x\n\n\nworktree.setup = npm ci"}, {Key: "clis.a.args", Text: "[]"}}
	text, question := trustQuestion(asked)
	if want := "worktree.setup:\n  | rm -rf x\n  | \n  | \n  | worktree.setup = npm ci\nclis.a.args:\n  | []\n"; text != want {
		t.Errorf("%q", text)
	}
	if want := "trust these 2 texts (5 lines)?"; question != want {
		t.Errorf("%q", question)
	}
}

func TestTextsOfCLIsCommandNoTerminal(t *testing.T) {
	var out bytes.Buffer
	text := "a\x1b]52;c;ZXZpbA==\x07b\u009b31mc\x1b]0;title\x1b\\\td\u202ee\n"
	if n, err := (printable{&out}).Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if want := "ab31mc\tde\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	if w := forReading(&out); w != any(&out) {
		t.Error("what is no terminal gets another text")
	}
}
