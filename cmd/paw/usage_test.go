package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"paw/orchestrator"
	"paw/orchestrator/cli"
)

func someUsage() []orchestrator.AgentUsage {
	first := cli.Spent{Input: 100, CacheRead: 12_345, CacheWrite: 999, Output: 50, Answers: 2, Cost: 0.0123, Priced: true}
	second := cli.Spent{Input: 1_500_000, Output: 1000, Answers: 1}
	total := cli.Spent{Input: 1_500_100, CacheRead: 12_345, CacheWrite: 999, Output: 1050, Answers: 3, Cost: 0.0123, Priced: true}
	return []orchestrator.AgentUsage{
		{Agent: "web", CLI: "opencode", Turns: []orchestrator.TurnUsage{{Number: 1, Spent: first}, {Number: 3, Spent: second}}, Total: total},
		{Agent: "old", CLI: "aider", Unknown: "the CLI's record says nothing of it"},
		{Agent: "new", CLI: "claude"},
	}
}

func TestUsageForPeople(t *testing.T) {
	for byTurn, want := range map[bool]string{
		false: `AGENT  TURN  INPUT  FROM CACHE  TO CACHE  OUTPUT  COST
web    all   1.5M   12.3k       999       1.1k    $0.0123
old    -
new    all   0      0           0         0
old: the CLI's record says nothing of it
`,
		true: `AGENT  TURN  INPUT  FROM CACHE  TO CACHE  OUTPUT  COST
web    1     100    12.3k       999       50      $0.0123
web    3     1.5M   0           0         1.0k
web    all   1.5M   12.3k       999       1.1k    $0.0123
old    -
new    all   0      0           0         0
old: the CLI's record says nothing of it
`,
	} {
		a := usageOptions{plainRun()}
		a.printUsage(someUsage(), byTurn)
		if got := a.stdout.(*bytes.Buffer).String(); got != want {
			t.Errorf("by turn %v:\n%s\nwant\n%s", byTurn, got, want)
		}
	}
}

func TestUsageAsJSON(t *testing.T) {
	got, err := json.Marshal(usageView("shop", someUsage()))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"session":"shop","agents":[` +
		`{"name":"web","cli":"opencode","total":{"input_tokens":1500100,"cache_read_tokens":12345,"cache_write_tokens":999,"output_tokens":1050,"answers":3,"cost_usd":0.0123},` +
		`"turns":[{"number":1,"input_tokens":100,"cache_read_tokens":12345,"cache_write_tokens":999,"output_tokens":50,"answers":2,"cost_usd":0.0123},` +
		`{"number":3,"input_tokens":1500000,"cache_read_tokens":0,"cache_write_tokens":0,"output_tokens":1000,"answers":1,"cost_usd":null}],"between":null,"unknown":null,"limits":[]},` +
		`{"name":"old","cli":"aider","total":null,"turns":[],"between":null,"unknown":"the CLI's record says nothing of it","limits":[]},` +
		`{"name":"new","cli":"claude","total":null,"turns":[],"between":null,"unknown":null,"limits":[]}]}`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
