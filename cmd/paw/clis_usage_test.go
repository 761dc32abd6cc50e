//go:build clis

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsUsage compares the tokens that paw usage prints for ten turns with those that the
// scripted model server billed, in total and for each turn, even across a resume. Requests that a
// CLI makes for itself, such as for a title of the conversation, are in no transcript and are not
// compared.
func TestCLIsUsage(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		w.model.Bills = true
		turns := []string{
			"do: say One.", "do: write two.txt 2\ndo: say Two.", "do: run true\ndo: run true\ndo: run true\ndo: say Three.",
			"Note this, and commit", "do: write five.txt 5\ndo: commit Five\ndo: say Five.",
			"do: say Back.", "do: write seven.txt 7\ndo: run true\ndo: say Seven.", "do: slow 1 A long answer, in many pieces, that takes its time.",
			"do: remove seven.txt\ndo: say Nine.", "do: commit All\ndo: say Ten.",
		}
		want := map[int]cli.Spent{}
		var total cli.Spent
		var aside fakemodel.Bill
		seen := 0
		read := func() agentUsageJSON {
			var usage usageJSON
			if err := json.Unmarshal([]byte(w.ok(w.paw("usage", w.cli, "--json")).stdout), &usage); err != nil {
				t.Fatal(err)
			}
			return usage.Agents[0]
		}
		written := func() { // on a busy machine, qwen writes its record some seconds after the end of a turn
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
				if got := read().Total; got != nil && tokensOf(got.Spent) == tokensOf(total) {
					return
				}
			}
		}
		for i, prompt := range turns {
			if i == 5 {
				written()
				w.ok(w.paw("stop"))
				w.ok(w.paw("recover", "shop", "--detach"))
			}
			one := w.work(prompt)
			asked := w.model.Last(1_000_000)[seen:]
			seen += len(asked)
			var spent cli.Spent
			for _, e := range asked {
				if e.Aside || e.Bill == (fakemodel.Bill{}) {
					aside.Add(e.Bill)
					continue
				}
				use := cli.Use{Input: e.Bill.Input, CacheRead: e.Bill.CacheRead, CacheWrite: e.Bill.CacheWrite, Output: e.Bill.Output}
				spent.Add(use)
				total.Add(use)
			}
			want[one.Number] = spent
		}
		written()
		got := read()
		if got.Unknown != nil || got.Total == nil || tokensOf(got.Total.Spent) != tokensOf(total) {
			t.Errorf("all in all %+v, the server billed %s; not read: %s", got.Total, tokensOf(total), text(got.Unknown))
		}
		if got.Between != nil {
			t.Errorf("between turns: %+v", got.Between)
		}
		for _, one := range got.Turns {
			if tokensOf(one.Spent) != tokensOf(want[one.Number]) {
				t.Errorf("turn %d: %s, the server billed %s", one.Number, tokensOf(one.Spent), tokensOf(want[one.Number]))
			}
			delete(want, one.Number)
		}
		if len(want) > 0 {
			t.Errorf("turns without usage: %v", want)
		}
		t.Logf("%s: %s; besides for itself, in no record: %+v", w.cli, tokensOf(total), aside)
	})
}

// tokensOf formats the token counts of a usage, without its price.
func tokensOf(s cli.Spent) string {
	return fmt.Sprintf("%d answers, %d read, %d from a cache, %d into one, %d written", s.Answers, s.Input, s.CacheRead, s.CacheWrite, s.Output)
}

// TestCLIsUsageWithAStopHook: if a Stop hook of the user makes claude go on after its answer, the
// usage of the rest belongs to the turn whose end was held or, if that end was already written, to
// the turn that the rest makes.
func TestCLIsUsageWithAStopHook(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.model.Bills = true
	again := filepath.Join(w.root, "again")
	w.write(w.root, "stop.sh", "if test -e "+again+"; then rm "+again+"; echo '{\"decision\":\"block\",\"reason\":\"do: say Once more.\"}'; fi\n")
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", fmt.Sprintf("[clis.claude]\nargs = [\"--settings\", '%s']\n",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh `+filepath.Join(w.root, "stop.sh")+`"}]}]}}`))
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.work("do: say One.")
	w.write(w.root, "again", "")
	w.send("do: say Two.")
	w.await("what the hook made has ended", func() bool {
		return strings.Contains(w.screen("claude"), "● Once more.") && w.last().Tag != nil && w.agent("claude").State == "idle"
	})
	var usage usageJSON
	if err := json.Unmarshal([]byte(w.ok(w.paw("usage", "claude", "--json")).stdout), &usage); err != nil {
		t.Fatal(err)
	}
	got := usage.Agents[0]
	if got.Between != nil || got.Total.Answers != 3 || len(got.Turns) < 2 {
		t.Fatalf("%+v", got)
	}
	var billed [3]cli.Spent // the last two answers are in one turn or in two
	for i, e := range w.model.Last(3) {
		billed[min(i, len(got.Turns)-1)].Add(cli.Use{Input: e.Bill.Input, CacheRead: e.Bill.CacheRead, CacheWrite: e.Bill.CacheWrite, Output: e.Bill.Output})
	}
	for i, one := range got.Turns {
		if tokensOf(one.Spent) != tokensOf(billed[i]) {
			t.Errorf("turn %d: %s, the server billed %s", one.Number, tokensOf(one.Spent), tokensOf(billed[i]))
		}
	}
}
