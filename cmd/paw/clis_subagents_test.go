//go:build clis

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCLIsSubagents: a turn of claude lasts while its subagents work, and has their files and their
// usage.
func TestCLIsSubagents(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.send(`do: write main.txt 1
do: tool Agent {"description":"sub","prompt":"do: write suba.txt 1\ndo: run sleep 6\ndo: write subb.txt 2\ndo: say sub done","subagent_type":"general-purpose"}
do: say Answered.`)
	w.await("the agent has answered, and its subagent works", func() bool {
		a := w.agent("claude")
		return a.State == "running" && strings.Contains(text(a.Reason), "its subagents work") && w.has("main.txt")
	})
	if out := w.paw("land", "claude", "--dry-run"); out.code != 3 {
		t.Errorf("land: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	one := w.finished(0)
	if one.Number != 1 || one.Type != "prompt" || one.FilesChanged == nil || *one.FilesChanged != 3 || !w.has("subb.txt") {
		t.Errorf("%+v", one)
	}
	if got := w.ok(w.paw("diff", "claude", "1", "--stat")).stdout; !strings.Contains(got, "suba.txt") || !strings.Contains(got, "subb.txt") {
		t.Errorf("paw diff of the turn:\n%s", got)
	}
	answered := w.answers()
	var usage usageJSON
	if err := json.Unmarshal([]byte(w.ok(w.paw("usage", "claude", "--json")).stdout), &usage); err != nil {
		t.Fatal(err)
	}
	if usage.Agents[0].Total.Answers != answered || len(usage.Agents[0].Turns) != 1 || usage.Agents[0].Turns[0].Answers != answered {
		t.Errorf("the model gave %d answers, of these known: %+v", answered, usage.Agents[0])
	}

	// A prompt after the answer ends the turn as a success; what the subagent does later belongs to
	// the next turn.
	w.send(`do: tool Agent {"description":"sub","prompt":"do: run sleep 8\ndo: write late.txt 2","subagent_type":"general-purpose"}
do: say Answered again.`)
	w.await("its subagent works", func() bool { return strings.Contains(text(w.agent("claude").Reason), "its subagents work") })
	w.send("do: write next.txt 1\ndo: say Next.")
	w.finished(2)
	if two, three := w.turn(2), w.turn(3); two.State != "finished" || *two.FilesChanged != 0 || *three.FilesChanged != 2 {
		t.Errorf("the turns are %+v\n%+v", two, three)
	}

	// The result of a subagent that ends while claude answers follows the answer, in the same turn.
	before, asked := w.last().Number, w.answers()
	w.send(`do: tool Agent {"description":"sub","prompt":"do: write quick.txt 1\ndo: say Quick.","subagent_type":"general-purpose"}
do: slow 10 Slowly.`)
	w.await("the report is answered", func() bool { return w.answers() >= asked+5 })
	w.awaitState("idle")
	if one := w.finished(before); one.Number != before+1 || one.Type != "prompt" || *one.FilesChanged != 1 {
		t.Errorf("%+v", one)
	}
}

// TestCLIsBackgroundAgents: a turn of qwen lasts while an agent works for it in the background.
func TestCLIsBackgroundAgents(t *testing.T) {
	startEach(t, []string{"qwen"}, func(t *testing.T, w *cliWorld) {
		w.send(`do: tool agent {"description":"sub","prompt":"do: run sleep 6\ndo: write sub.txt 1","subagent_type":"general-purpose","run_in_background":true}
do: say Answered.`)
		w.awaitState("waiting_input")
		w.ok(w.paw("answer", w.cli, "yes"))
		w.await("it has answered, and its agent works", func() bool {
			a := w.agent(w.cli)
			return a.State == "running" && strings.Contains(text(a.Reason), "its subagents work")
		})
		if out := w.paw("land", w.cli, "--dry-run"); out.code != 3 || w.has("sub.txt") {
			t.Errorf("land: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		if one := w.finished(0); one.Number != 1 || *one.FilesChanged != 1 || !w.has("sub.txt") {
			t.Errorf("%+v", one)
		}
	})
}

// answers counts the answers of the model to claude.
func (w *cliWorld) answers() int {
	n := 0
	for _, e := range w.model.Last(1000) {
		if strings.HasSuffix(e.Path, "/messages") {
			n++
		}
	}
	return n
}
