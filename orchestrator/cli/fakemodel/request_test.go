package fakemodel

import (
	"encoding/json"
	"testing"
)

func TestWithoutNotes(t *testing.T) {
	for text, want := range map[string]string{
		"do: say <b>hi</b>": "do: say <b>hi</b>",
		"<system-reminder>\nbe kind\n</system-reminder>":                                          "",
		"<current_datetime>now</current_datetime>\n\nFix it\n\n<reminder>\ndo: hang\n</reminder>": "Fix it",
		"<a x=\"1\">one</a>\n<a>two</a>":                                                          "",
		"<unclosed> do it":                                                                        "<unclosed> do it",
		"# AGENTS.md instructions\nbe kind":                                                       "",
		"[Request interrupted by user]":                                                           "",
		"  two\nlines \n":                                                                         "two\nlines",
		"<environment_context>\n  <cwd>/r</cwd>\n</environment_context>":                          "",
	} {
		if got := withoutNotes(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPromptInNoteIsHeard(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"do: run a"},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]},
		{"role":"system","content":"The user sent a new message while you were working:\ndo: run b\n\nand c\n\nIMPORTANT: After completing."},
		{"role":"system","content":"do: run d"}]}`
	q, err := messages{}.parse(nil, []byte(body))
	if err != nil || q.prompt != "do: run b\n\nand c" || q.results != 0 {
		t.Errorf("%d results of %q, %v", q.results, q.prompt, err)
	}
}

func TestPromptOfAHookIsHeard(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"do: say Two."},{"role":"assistant","content":[{"type":"text","text":"Two."}]},
		{"role":"user","content":"<system-reminder>\nThe text below is the output of a hook.\nStop hook feedback:\ndo: say Once more.\n</system-reminder>"},
		{"role":"system","content":[{"type":"text","text":"Stop hook blocking error from command: \"sh stop.sh\": do: say Once more."}]}]}`
	q, err := messages{}.parse(nil, []byte(body))
	if err != nil || q.prompt != "do: say Once more." {
		t.Errorf("%q, %v", q.prompt, err)
	}
}

func TestPromptThatJoinedIsHeard(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"do: run a"},{"role":"tool","tool_call_id":"t1","content":"a"},
		{"role":"user","content":[{"type":"text","text":"\n[User message received during tool execution]: do: run b\ndo: run c"}]}]}`
	q, err := chat{}.parse(nil, []byte(body))
	if err != nil || q.prompt != "do: run b\ndo: run c" || q.results != 0 {
		t.Errorf("%d results of %q, %v", q.results, q.prompt, err)
	}
}

func TestFilesAreNoPrompt(t *testing.T) {
	for name, texts := range map[string][]string{
		"in parts": {"do: run @a", "\n--- Content from referenced files ---", "\nContent from @a:\n", "do: hang", "\n--- End of content ---"},
		"in one":   {"do: run @a\n--- Content from referenced files ---\nContent from /a:\ndo: hang\n--- End of content ---"},
	} {
		q := newRequest("", "", false)
		for _, text := range texts {
			q.say(text)
		}
		q.result("a")
		if q.prompt != "do: run @a" || q.results != 1 {
			t.Errorf("%s: %d results of %q", name, q.results, q.prompt)
		}
		if q.say("do: run b"); q.prompt != "do: run b" {
			t.Errorf("%s: then %q", name, q.prompt)
		}
	}
}

func TestResultsBelongToTheirPrompt(t *testing.T) {
	q := newRequest("", "", false)
	q.say("do: run a\ndo: run b")
	q.result("a")
	q.say("<reminder>go on</reminder>")
	q.result("b")
	if q.results != 2 || q.newest != "b" {
		t.Errorf("%d results, newest %q", q.results, q.newest)
	}
	q.say("do: run c")
	if q.results != 0 || q.prompt != "do: run c" {
		t.Errorf("%d results of %q", q.results, q.prompt)
	}
}

func TestToolsOfEachCLI(t *testing.T) {
	run := action{verb: "run", text: "ls"}
	ask := action{verb: "ask", text: "make"}
	for name, test := range map[string]struct {
		tools  string // name to parameters
		action action
		want   string
	}{
		"claude": {`{"Bash":{},"Write":{}}`, run, `Bash {"command":"ls"}`},
		"pi":     {`{"bash":{},"write":{}}`, run, `bash {"command":"ls"}`},
		"a required argument": {`{"bash":{"required":["command","description"],"properties":{"description":{"type":"string"}}}}`,
			ask, `bash {"command":"env PAW_ASK=1 sh -c 'make'","description":"scripted"}`},
		"copilot": {`{"bash":{"required":["mode"],"properties":{"mode":{"type":"string","enum":["sync","async"]}}}}`,
			run, `bash {"command":"ls","mode":"sync"}`},
		"qwen": {`{"run_shell_command":{"required":["is_background"],"properties":{"is_background":{"type":"boolean"}}}}`,
			ask, `run_shell_command {"command":"env PAW_ASK=1 sh -c 'make'","is_background":false}`},
		"codex": {`{"exec_command":{"properties":{"sandbox_permissions":{"type":"string"}}}}`, ask,
			`exec_command {"cmd":"env PAW_ASK=1 sh -c 'make'","justification":"the script asks for permission",` +
				`"sandbox_permissions":"require_escalated"}`},
		"one by its name": {`{"Ask":{},"bash":{}}`, action{verb: "tool", name: "Ask", text: `{"questions":["a?"]}`},
			`Ask {"questions":["a?"]}`},
	} {
		var schemas map[string]schema
		if err := json.Unmarshal([]byte(test.tools), &schemas); err != nil {
			t.Fatal(err)
		}
		q := newRequest("", "", false)
		for name, s := range schemas {
			q.tools[name] = tool{name: name, parameters: s}
		}
		c, ok := q.callFor(test.action)
		if got := c.tool + " " + encode(c.arguments); !ok || got != test.want {
			t.Errorf("%s: got  %s\nwant %s", name, got, test.want)
		}
	}
}

func TestRequestsOfTheCLIItself(t *testing.T) {
	var wanted schema
	if err := json.Unmarshal([]byte(`{"type":"OBJECT","required":["score","why","next"],"properties":{
		"score":{"type":"INTEGER","minimum":3},"why":{"type":"STRING"},"next":{"enum":["user","model"]}}}`), &wanted); err != nil {
		t.Fatal(err)
	}
	shell := map[string]tool{"Bash": {name: "Bash"}}
	for name, test := range map[string]struct {
		q    request
		want string
	}{
		"a title":      {request{prompt: "do: run make"}, side},
		"a summary":    {request{prompt: "Write a summary of the conversation so far", tools: shell}, side},
		"a suggestion": {request{prompt: "[SUGGESTION MODE: Suggest what the user might naturally type next.]", tools: shell}, side},
		"no prompt":    {request{tools: shell}, side},
		"JSON":         {request{prompt: "do: run make", tools: shell, wanted: &wanted}, `{"next":"user","score":3,"why":"scripted"}`},
		"no writing":   {request{prompt: "do: write a b", tools: map[string]tool{"think": {}}}, "no tool to run with"},
	} {
		if a, c := test.q.answer(); a != (answer{text: test.want}) || c.tool != "" {
			t.Errorf("%s: %+v, %+v", name, a, c)
		}
	}
}
