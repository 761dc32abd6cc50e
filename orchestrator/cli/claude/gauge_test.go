package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/session"
)

// TestCosts: what was paid between what claude said at two moments; a launch goes on from what is in claude's record.
func TestCosts(t *testing.T) {
	for name, c := range map[string]struct{ points, want string }{
		"a new conversation":          {"a 0, a 1, a 3", "1 2"},
		"one that came back":          {"a 0, a 1, - 1, b 1, b 2", "1 1"},
		"its end told more":           {"a 0, a 1, - 1.5, b 1.5, b 2", "1 0.5 0.5"},
		"one that crashed":            {"a 0, a 5, b 0, b 2", "5 2"},
		"one that crashed after more": {"a 0, a 1, - 1, b 1, b 6, c 1, c 2", "1 5 1"},
		"a copy of another one":       {"a 7, a 8", "1"},
		"without a status line":       {"- 2, - 3", "2 1"},
		"late, of the same launch":    {"a 0, a 2, a 1, a 3", "2 1"},
		"nothing":                     {"", ""},
	} {
		var points []point
		for i, one := range strings.Split(c.points, ", ") {
			p := point{at: time.Unix(int64(i), 0)}
			if _, err := fmt.Sscanf(one, "%s %g", &p.launch, &p.cost); err == nil {
				p.launch = strings.Trim(p.launch, "-")
				points = append(points, p)
			}
		}
		var got []string
		for _, u := range costs(points) {
			got = append(got, fmt.Sprintf("%g", u.Cost))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, " "), c.want)
		}
	}
}

// TestPriced: what was paid is of the last answer before claude said so, whatever file that is in.
func TestPriced(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	got := priced([]cli.Use{{At: at(10), Output: 1}, {At: at(20), Output: 2}, {At: at(15), Output: 3}},
		[]cli.Use{{At: at(16), Cost: 1, Priced: true}, {At: at(30), Cost: 2, Priced: true}, {At: at(5), Cost: 4, Priced: true}})
	want := []cli.Use{
		{At: at(10), Output: 1},
		{At: at(20), Output: 2, Cost: 2, Priced: true},
		{At: at(15), Output: 3, Cost: 1, Priced: true},
		{At: at(5), Cost: 4, Priced: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// payload is what 2.1.330 gave to its status line, but for paths and what paw does not read.
const payload = `{"session_id":"0e2bb439-bea6-4717-95cc-5f17fc2ce36f","cwd":"/src/shop","version":"2.1.330",` +
	`"cost":{"total_cost_usd":0.0012000000000000001,"total_duration_ms":4220},"exceeds_200k_tokens":false,` +
	`"rate_limits":{"five_hour":{"used_percentage":85,"resets_at":1795432468},"seven_day":{"used_percentage":42,"resets_at":1795605268}}}`

// TestGauge: what claude told is kept once, and the user's own status line is that which claude would have run.
func TestGauge(t *testing.T) {
	dir := t.TempDir()
	s := cli.Spec{Worktree: filepath.Join(dir, "tree"), StateDir: dir, Env: []string{"HOME=" + dir, "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "config")}}
	put := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		got, err := Driver.(driver).Gauge(s, "shop/claude/1", []byte(payload))
		if err != nil || got.Own != "" || !strings.HasPrefix(got.Words, "$0.00 · 85% of 5 hours, resets ") {
			t.Errorf("%+v, %v", got, err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(dir, gaugeName))
	if err != nil || strings.Count(string(kept), "\n") != 1 {
		t.Errorf("kept %v: %s", err, kept)
	}
	want := []session.Window{
		{Name: "5 hours", Used: 85, Until: time.Unix(1795432468, 0).UTC()}, {Name: "7 days", Used: 42, Until: time.Unix(1795605268, 0).UTC()},
	}
	if diff := cmp.Diff(want, Driver.(driver).Windows(s)); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ file, command string }{
		{"config/settings.json", "mine"}, {"tree/.claude/settings.json", "the project's"}, {"tree/.claude/settings.local.json", "mine, here"},
	} {
		put(c.file, fmt.Sprintf(`{"statusLine":{"type":"command","command":%q}}`, c.command))
		if got, err := (Driver.(driver)).Gauge(s, "shop/claude/1", []byte(payload)); err != nil || got.Own != c.command {
			t.Errorf("own %q, want %q; %v", got.Own, c.command, err)
		}
	}
}
