package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"paw/session/turn"
)

// turnsOf returns the turns of an agent of session shop.
func (w *world) turnsOf(agent string) []turnJSON {
	w.t.Helper()
	return w.turnsIn("shop", agent)
}

// turnsIn returns the turns of an agent, from paw turns --json.
func (w *world) turnsIn(session, agent string) []turnJSON {
	w.t.Helper()
	var v turnsJSON
	if err := json.Unmarshal([]byte(w.ok(w.paw("turns", session+"/"+agent, "--json")).stdout), &v); err != nil {
		w.t.Fatal(err)
	}
	return v.Agents[0].Turns
}

// TestKilledHooks kills every hook process after one of its steps. The CLI must go on, and after
// recover, tags, log and record must agree: every finished turn has its tag on its commit, no turn
// is open, and no number is used twice.
func TestKilledHooks(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		"turn.claimed", "turn.started", "turn.before", "turn.snapshot", "turn.ended", "turn.remembered", "turn.tagged", "turn.aborted",
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.startWith([]string{"PAW_TEST_KILL=" + step}, "demo")
			for i, prompt := range []string{"first", "second", "do: write draft.txt x\ndo: fail broken", "third"} {
				w.ok(w.paw("send", "demo", "--no-wait", prompt))
				want := []string{"first", "second", "broken", "third"}[i]
				waitFor(t, "the CLI went on to "+want, func() bool {
					screen := w.tmux("capture-pane", "-p", "-S", "-100", "-t", "=paw-shop:").stdout
					return strings.Contains(screen, want) && strings.HasSuffix(strings.TrimSpace(screen), ">")
				})
			}
			w.ok(w.paw("stop"))
			w.ok(w.paw("recover", "shop", "--detach"))
			w.ready("demo")
			highest := w.checkTurns("demo")
			w.ok(w.paw("send", "demo", "after all"))
			waitFor(t, "a turn after the crashes is tagged", func() bool {
				list := w.turnsOf("demo")
				last := list[len(list)-1]
				return last.Prompt == "after all" && last.Tag != nil && last.Number > highest
			})
			w.checkTurns("demo")
		})
	}
}

// checkTurns compares the log, tags and claims of an agent, and returns the highest number.
func (w *world) checkTurns(agent string) int {
	w.t.Helper()
	tags := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(w.git(w.repo, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/tags")), "\n") {
		name, oid, _ := strings.Cut(line, " ")
		if owner, _, ok := turn.ParseTag(name); ok && owner == "shop_"+agent {
			tags[name] = oid
		}
	}
	highest, seen := 0, map[int]bool{}
	for _, one := range w.turnsOf(agent) {
		name := fmt.Sprintf("afk-shop_%s-%d", agent, one.Number)
		switch one.State {
		case "finished":
			if one.CommitHash == nil || tags[name] != *one.CommitHash {
				w.t.Errorf("turn %d finished on %v, its tag is at %q", one.Number, one.CommitHash, tags[name])
			}
		case "aborted":
			if tags[name] != "" {
				w.t.Errorf("turn %d was aborted and has a tag", one.Number)
			}
		default:
			w.t.Errorf("turn %d is %s after recover", one.Number, one.State)
		}
		if seen[one.Number] {
			w.t.Errorf("turn %d is there twice", one.Number)
		}
		seen[one.Number], highest = true, max(highest, one.Number)
		delete(tags, name)
	}
	delete(tags, "afk-shop_"+agent+"-0")
	if len(tags) > 0 {
		w.t.Errorf("tags without a turn: %v", tags)
	}
	return highest
}
