package ui

import (
	"strings"
	"testing"
	"time"
)

// TestRowsLive shows what an agent at work does, how long that takes, and that its record has come to rest.
func TestRowsLive(t *testing.T) {
	row := func(height int, d Doing, at time.Time) (row, below string) {
		m := opened(&played{}, Board{Agents: []Agent{
			{Session: "shop", Name: "web", Number: 1, CLI: "claude", Group: Working, State: "running", Turn: "2…", About: "add a search box", Runs: true, Since: noon.Add(-5 * time.Minute)},
			{Session: "shop", Name: "api", Number: 2, CLI: "claude", Group: Quiet, State: "idle", Turn: "1", About: "look around", Since: noon.Add(-9 * time.Minute)},
		}}, Options{}, 120, height)
		m = after(m, doingMsg{map[string]Doing{"shop/web": d}, at})
		lines := strings.Split(screenOf(m), "\n")
		for i, line := range lines {
			if list := m.layout().list.width; strings.Contains(m.Cut(line, list), " web ") {
				return m.Cut(line, list), m.Cut(lines[i+1], list) + "\n" + m.Cut(lines[i+2], list)
			}
		}
		t.Fatal("no row of web")
		return "", ""
	}
	tool := Doing{What: "Bash npm test", Since: noon.Add(-40 * time.Second), Tool: true, Last: noon.Add(-40 * time.Second)}
	first, below := row(35, tool, noon)
	if !strings.Contains(first, "running") || !strings.Contains(first, "5m00s") || !strings.Contains(below, "add a search box") || !strings.Contains(below, "Bash npm test · 40s") {
		t.Errorf("a tool runs:\n%s\n%s", first, below)
	}
	next, _ := row(35, tool, noon.Add(time.Second))
	if []rune(first)[0] == []rune(next)[0] {
		t.Errorf("the sign does not move: %s", next)
	}
	rest, _ := row(35, tool, noon.Add(3*time.Minute))
	again, _ := row(35, tool, noon.Add(3*time.Minute+time.Second))
	if []rune(rest)[0] != []rune(again)[0] || strings.Contains(rest, "stalled") {
		t.Errorf("the sign of a tool that is silent moves, or is called stalled: %s", again)
	}
	head := func(d Doing, at time.Time) string {
		m := after(opened(&played{}, Board{Agents: []Agent{{Session: "shop", Name: "web", Group: Working, State: "running", Runs: true}}}, Options{}, 120, 35), doingMsg{map[string]Doing{"shop/web": d}, at})
		_, right, _ := strings.Cut(strings.Split(screenOf(m), "\n")[1], "│")
		return right
	}
	said := Doing{What: "The parser is wrong.", Since: noon, Last: noon.Add(-time.Minute)}
	if stalled, _ := row(35, said, noon.Add(2*time.Minute)); !strings.Contains(stalled, "stalled 3m") || !strings.Contains(head(said, noon.Add(2*time.Minute)), "web  stalled 3m") {
		t.Errorf("nothing has come for 3 minutes: %s, %s", stalled, head(said, noon.Add(2*time.Minute)))
	}
	if unknown, _ := row(35, Doing{}, noon.Add(time.Hour)); strings.Contains(unknown, "stalled") || !strings.Contains(unknown, "running") {
		t.Errorf("a record that cannot be read: %s", unknown)
	}
}

// TestNothingTicksAtRest follows agents only while one of those that are seen is at work.
func TestNothingTicksAtRest(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{}, 120, 35)
	if got := m.wanted(); len(got.working) != 0 {
		t.Errorf("nobody is at work, and %d agents are followed", len(got.working))
	}
}
