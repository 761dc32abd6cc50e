package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// allTags is the number of turn tags of all agents together.
const allTags = 10_000

//go:embed status.sh
var shellStatus string

// measureStatus times paw status of n agents: without turn tags, with loose and with packed ones,
// beside a shell script that asks for each agent.
func (b *bench) measureStatus(w *world, n int) {
	w.run(w.startArgs(n)...)
	w.expectAlive(n)
	shell := []string{"sh", "-c", shellStatus, "status.sh", w.repo, w.socket, sessionName}
	var shellCalls job // tags change only the script's time, not its calls
	w.count(&shellCalls, shell...)
	b.statusRow(w, n, "", budget{counts: statusCounts})
	w.makeTags(n)
	for _, kind := range []string{"loose", "packed"} {
		if kind == "packed" {
			w.run("git", "pack-refs", "--all")
		}
		limit := budget{counts: statusCounts}
		if n == 200 {
			limit.multiple = 14
		}
		b.statusRow(w, n, fmt.Sprintf(", %d %s tags", allTags, kind), limit)
		j := b.job(fmt.Sprintf("  the same in shell, %s", kind), budget{})
		j.calls = shellCalls.calls
		w.measure(j, slow, shell...)
	}
}

// otherSessions is the number of sessions of other repositories.
const otherSessions = 500

// measureStatusByPlace times paw status in a repository whose session is one of many.
func (b *bench) measureStatusByPlace(w *world) {
	w.run(w.startArgs(1)...)
	records := filepath.Join(w.dir, "data", "paw", "sessions")
	own := must(os.ReadFile(filepath.Join(records, sessionName+".json")))
	for i := range otherSessions {
		name := fmt.Sprintf("other%d", i)
		text := strings.ReplaceAll(string(own), w.repo, w.repo+"-"+name)
		text = strings.Replace(text, fmt.Sprintf("%q", sessionName), fmt.Sprintf("%q", name), 1)
		check(os.WriteFile(filepath.Join(records, name+".json"), []byte(text), 0o600))
	}
	w.expectAlive(1)
	b.statusRow(w, 1, fmt.Sprintf(", beside %d other sessions", otherSessions), budget{multiple: 10, counts: statusCounts})
}

func (b *bench) statusRow(w *world, n int, suffix string, limit budget) {
	j := b.job(fmt.Sprintf("status, %s%s", plural(n), suffix), limit)
	w.measure(j, quick, w.paw, "status")
	w.count(j, w.paw, "status")
}

func plural(n int) string {
	if n == 1 {
		return "1 agent"
	}
	return fmt.Sprintf("%d agents", n)
}

// makeTags gives the agents their turn tags, as loose refs. The tags need not
// survive a power cut, so git does not wait for the disk.
func (w *world) makeTags(n int) {
	head := strings.TrimSpace(w.output("git", "rev-parse", "HEAD"))
	var create strings.Builder
	for i := range allTags {
		fmt.Fprintf(&create, "create refs/tags/afk-%s_%s-%d %s\n", sessionName, agentName(i%n), i/n+1, head)
	}
	w.feed(create.String(), "git", "-c", "core.fsync=none", "update-ref", "--stdin")
}

// statusAgent has the used fields of an agent in paw status --json.
type statusAgent struct {
	WorktreePath   string `json:"worktree_path"`
	PaneAlive      bool   `json:"pane_alive"`
	PID            int    `json:"pid"`
	State          string `json:"state"`
	ConversationID string `json:"conversation_id"`
	TurnsCompleted int    `json:"turns_completed"`
	LastTag        string `json:"last_tag"`
	Hooks          string `json:"hooks"`
}

func (w *world) statusAgents() []statusAgent {
	var status struct {
		Sessions []struct {
			Agents []statusAgent `json:"agents"`
		} `json:"sessions"`
	}
	check(json.Unmarshal([]byte(w.output(w.paw, "status", "--json")), &status))
	var all []statusAgent
	for _, s := range status.Sessions {
		all = append(all, s.Agents...)
	}
	return all
}

// expectAlive checks that the agents of a timed status are alive.
func (w *world) expectAlive(n int) {
	alive := 0
	for _, a := range w.statusAgents() {
		if a.PaneAlive && a.PID != 0 {
			alive++
		}
	}
	if alive != n {
		fail("paw status --json: %d of %s alive", alive, plural(n))
	}
}
