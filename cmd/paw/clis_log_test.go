//go:build clis

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/session/history"
)

// checkLog checks the conversation that paw reads from the CLI's record: each tool call is followed
// by its result, unless its turn was cut, and the prompts of all turns are there in order.
func (w *cliWorld) checkLog(agent string) {
	w.t.Helper()
	log := w.readLog(agent)
	if log.ID == nil || log.Skipped > 0 {
		w.t.Errorf("conversation %s, %d records not understood", text(log.ID), log.Skipped)
	}
	turns := w.turnsOf(agent)
	cut := func(at time.Time) bool {
		return slices.ContainsFunc(turns, func(one turnJSON) bool {
			return one.State == "aborted" && at.After(*one.StartedAt) && at.Before(*one.EndedAt)
		})
	}
	open, calls := map[string]messageJSON{}, 0
	var said []string
	for _, m := range log.Messages {
		for _, call := range m.ToolCalls {
			open[call.ID] = m
			calls++
		}
		if m.Role == history.RoleTool {
			if _, ok := open[m.ToolCallID]; !ok {
				w.t.Errorf("a result without a call before it: %+v", m)
			}
			delete(open, m.ToolCallID)
		}
		if m.Role == history.RoleUser {
			said = append(said, strings.Join(strings.Fields(m.Content), " "))
		}
	}
	if calls == 0 {
		w.t.Error("no tool calls")
	}
	for _, m := range open {
		if !cut(m.Timestamp) {
			w.t.Errorf("without a result: %+v", m)
		}
	}
	for _, one := range turns {
		if one.Type == "task-notification" {
			continue // a turn that the CLI began by itself has no prompt of a user
		}
		prompt := strings.Join(strings.Fields(one.Prompt), " ")
		for len(said) > 0 && said[0] != prompt {
			said = said[1:]
		}
		if len(said) == 0 {
			w.t.Fatalf("the prompt of turn %d is not there, or not in order: %q", one.Number, one.Prompt)
		}
		said = said[1:]
	}
	last := turns[len(turns)-1]
	if of := w.readLog(agent, "--turn", fmt.Sprint(last.Number)).Messages; len(of) < 2 || len(of) >= len(log.Messages) || !strings.Contains(of[0].Content, strings.TrimSpace(last.Prompt)) {
		w.t.Errorf("turn %d, %q, is %+v", last.Number, last.Prompt, of)
	}
}

func (w *cliWorld) readLog(agent string, flags ...string) logJSON {
	w.t.Helper()
	var log logJSON
	out := w.ok(w.paw(append([]string{"log", agent, "--json"}, flags...)...))
	if err := json.Unmarshal([]byte(out.stdout), &log); err != nil {
		w.t.Fatal(err)
	}
	return log
}
