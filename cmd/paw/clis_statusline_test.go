//go:build clis

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCLIsStatusLine: claude gives its status line the cost and how much of the limits is used, and
// paw reads both there: usage shows dollars, and status shows a limit before it is reached. The
// user's own status line is shown as before.
func TestCLIsStatusLine(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.subscribe()
	w.model.Bills, w.model.Used = true, 60
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	usage := func() agentUsageJSON {
		t.Helper()
		var all usageJSON
		if err := json.Unmarshal([]byte(w.ok(w.paw("usage", "claude", "--json")).stdout), &all); err != nil {
			t.Fatal(err)
		}
		return all.Agents[0]
	}
	cost := func() float64 {
		if total := usage().Total; total != nil && total.Cost != nil {
			return *total.Cost
		}
		return 0
	}
	w.work("do: run true\ndo: say One.")
	w.await("the cost is known, and what is used", func() bool {
		a := w.agent("claude")
		return cost() > 0 && len(a.Limits) == 2 && a.Limits[0].Name == "5 hours" && a.Limits[0].Used == 60 && a.Limits[1].Used == 30
	})
	if a := w.agent("claude"); a.Reason != nil {
		t.Errorf("far from its limit: %s", text(a.Reason))
	}
	w.await("its own row shows it", func() bool { return strings.Contains(w.visible(), "60% of 5 hours, resets ") })
	w.model.Used = 85
	w.work("do: write two.txt 2\ndo: say Two.")
	w.await("the limit is near", func() bool {
		return strings.HasPrefix(text(w.agent("claude").Reason), "near its limit: 85% of 5 hours, resets ")
	})
	if out := w.paw("usage"); !strings.Contains(out.stderr, "claude: 85% of 5 hours, resets ") {
		t.Errorf("paw usage: %s%s", out.stdout, out.stderr)
	}

	same := func(when string) {
		t.Helper()
		if paid := w.paid(); paid == 0 || math.Abs(cost()-paid) > 1e-9 {
			t.Errorf("%s: paw says $%g, claude's record $%g", when, cost(), paid)
		}
		all, turns := usage(), 0.0
		for _, one := range all.Turns {
			if one.Cost != nil {
				turns += *one.Cost
			}
		}
		if math.Abs(turns-*all.Total.Cost) > 1e-9 {
			t.Errorf("%s: the turns cost $%g, all $%g", when, turns, *all.Total.Cost)
		}
	}
	w.ok(w.paw("stop"))
	same("after a stop")

	// From here on, the user has a status line of his own.
	w.write(filepath.Join(w.root, "home/.claude"), "mine.json", w.withSetting("statusLine", `{"type":"command","command":"sed 's/.*\"version\":\"\\([^\"]*\\)\".*/mine of \\1/'"}`))
	if err := os.Rename(filepath.Join(w.root, "home/.claude/mine.json"), filepath.Join(w.root, "home/.claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("recover", "shop", "--detach"))
	before := cost()
	w.work("do: say Three.")
	w.await("the user's own row is shown", func() bool { return strings.Contains(w.visible(), "  mine of ") })
	w.await("the cost goes on", func() bool { return cost() > before })
	w.ok(w.paw("stop"))
	same("after the second stop")

	// A status line in --settings among the CLI's arguments is left as it is.
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "[clis.claude]\nargs = [\"--settings\", '{\"statusLine\":{\"type\":\"command\",\"command\":\"echo given\"}}']\n")
	w.ok(w.paw("recover", "shop", "--detach"))
	w.work("do: say Four.")
	w.await("the row of the arguments is shown", func() bool { return strings.Contains(w.visible(), "  given") })
	w.ok(w.paw("stop"))
	same("after the third stop, by claude's record")
}

// withSetting returns the user's settings of claude with one more setting.
func (w *cliWorld) withSetting(name, value string) string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.root, "home/.claude/settings.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(content, &settings); err != nil {
		w.t.Fatal(err)
	}
	settings[name] = json.RawMessage(value)
	content, err = json.Marshal(settings)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// paid reads the cost of the conversation from claude's transcript. claude writes the cost there when it exits.
func (w *cliWorld) paid() float64 {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.root, "home/.claude/projects/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("%d conversations, %v", len(files), err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		w.t.Fatal(err)
	}
	all := regexp.MustCompile(`"type":"cost-state".*?"totalCostUSD":([0-9.e-]+)`).FindAllStringSubmatch(string(content), -1)
	if len(all) == 0 {
		return 0
	}
	cost, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return cost
}
