package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator"
	"paw/orchestrator/hosts"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/session"
)

// situation is an agent, and what is said of it: its state, the word for that, the outcome by paw wait ("" for one that has not
// finished), and what paw queue says of a prompt that waits for the agent, or of the task that the agent is for ("" for neither).
type situation struct{ agent, state, word, outcome, queue string }

// situations are the agents of inSituations, as SESSION/AGENT.
var situations = []situation{
	{"shop/fresh", "idle", "idle", "", ""},
	{"shop/finished", "idle", "idle", "success", ""},
	{"shop/seen", "idle", "idle", "success", ""},
	{"shop/busy", "running", "running", "", "waiting busy"},
	{"shop/asks", "waiting_input", "waits for you", "", "waiting question"},
	{"shop/failed", "error", "error", "error", ""},
	{"shop/interrupted", "idle", "interrupted", "interrupted", ""},
	{"shop/left", "completed", "completed", "interrupted", "held not running"},
	{"shop/exits", "error", "error", "exit code 3", "held not running"},
	{"shop/killed", "error", "error", "killed by signal 9 (SIGKILL)", "held not running"},
	{"shop/closed", "suspended", "closed", "closed", "held not running"},
	{"shop/stopped", "suspended", "stopped", "stopped", "held not running"},
	{"shop/parent", "waiting_children", "waits for its children", "", "waiting busy"},
	{"shop/child", "running", "running", "", "waiting busy"},
	{"shop/said", "completed", "completed", "success", ""},
	{"shop/gave_up", "error", "error", "failure", ""},
	{"shop/headless", "running", "running", "", "waiting busy"},
	{"shop/paused", "running", "running", "", ""},
	{"shop/unbranched", "idle", "idle", "", ""},
	{"shop/moved", "idle", "idle", "", ""},
	{"shop/lost", "error", "error", "", ""},
	{"shop/rewound", "idle", "idle", "success", ""},
	{"shop/landed", "idle", "idle", "success", ""},
	{"shop/other", "idle", "idle", "", ""},
	{"shop/foreign", "unknown", "unknown", "", "held not running"},
	{"shop/setting", "running", "setting up", "", "waiting setting up"},
	{"shop/unset", "error", "error", "set-up failed (exit status 3)", "held not running"},
	{"shop/made", "unknown", "starting", "", "waiting starting"},
	{"shop/typed", "idle", "idle", "", "waiting there is other text in its input box"},
	{"shop/copying", "idle", "idle", "", "waiting its pane is in copy mode, which takes the keys"},
	{"spent/limited", "error", "limited until ", "error", "held until "},
	{"gone/calm", "suspended", "suspended", "crash", ""},
	{"gone/cut", "suspended", "suspended", "crash", ""},
	{"booted/calm", "suspended", "suspended", "crash", ""},
	{"booted/cut", "suspended", "suspended", "crash", ""},
	{"off/calm", "suspended", "stopped", "stopped", ""},
	{"off/cut", "suspended", "stopped", "stopped", ""},
	{"back/calm", "idle", "idle", "", ""},
	{"back/cut", "idle", "turn cut", "interrupted", ""},
	{"lane/first", "idle", "idle", "", ""},
	{"lane/well", "idle", "idle", "success", "done"},
	{"lane/badly", "error", "error", "error", "failed no"},
	{"lane/working", "running", "running", "", "running"},
}

// TestEverybodySaysTheSame: paw status, its JSON, the desk, next, wait and queue have one word for one thing, and so has a paw that
// asks this one as a host.
func TestEverybodySaysTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inSituations()
	waits, queues := "echo; ", ""
	for _, s := range strings.Fields("shop spent gone booted off back lane") {
		waits += fmt.Sprintf("echo ==%s; paw wait --session %[1]s --timeout 0 2>&1; ", s)
		queues += "==" + s + "\n" + w.ok(w.paw("queue", s)).stdout
	}
	shown := map[string]string{
		"status": w.shownWithin("echo; paw status --all --color never; echo ==over", "==over"), "pipe": w.ok(w.paw("status", "--all")).stdout,
		"wait": w.shownWithin(waits+"echo ==over", "==over"), "desk": w.shownWithin("paw ui --all", "QUIET"), "queue": queues,
	}
	view, far := w.view(), map[string]observe.AgentStatus{}
	for _, st := range hostStatuses(hosts.Answer{Host: "gpu", Status: []byte(w.ok(w.paw("status", "--all", "--json")).stdout)}, time.Now()) {
		for _, ag := range st.Agents {
			far[strings.TrimPrefix(st.Session.Name, "gpu:")+"/"+ag.Record.Name] = ag
		}
	}
	rows := map[string]map[string][]string{}
	for who, text := range shown {
		rows[who] = rowsIn(text)
	}
	seen := 0
	for _, s := range view.Sessions {
		for _, a := range s.Agents {
			key := s.Name + "/" + a.Name
			i := slices.IndexFunc(situations, func(one situation) bool { return one.agent == key })
			if i < 0 {
				t.Errorf("%s is no situation", key)
				continue
			}
			seen++
			situations[i].check(t, w, a, far[key], rows)
		}
	}
	if seen != len(situations) || t.Failed() {
		t.Errorf("%d of %d situations:\n%s\n%s\n%s\n%s", seen, len(situations), shown["status"], shown["desk"], shown["wait"], queues)
	}
}

// check compares what is said of one agent.
func (one situation) check(t *testing.T, w *world, a agentJSON, far observe.AgentStatus, rows map[string]map[string][]string) {
	cell := func(who string, n int) string {
		if row := rows[who][one.agent]; n < len(row) {
			return row[n]
		}
		return ""
	}
	reason := ""
	if a.Reason != nil {
		reason = *a.Reason
	}
	waited, group := one.outcome, cell("desk", 0)
	if waited == "" {
		waited = one.word
	}
	next := w.nextAlone(one.agent)
	nobody := fmt.Sprintf("nobody needs you; %s: %s", a.Name, a.Word)
	wants := map[string]string{
		"NEEDS YOU": one.agent + ": " + a.Word, "TO REVIEW": one.agent + ": 1 turn to review", "WORKING": nobody, "QUIET": nobody,
	}[group]
	if next.code == 10 && group == "NEEDS YOU" {
		wants = fmt.Sprintf("paw: error: %s: was %s, and has no pane", one.agent, a.Word)
	}
	task := strings.TrimSuffix(cell("queue", 1)+" "+strings.Join(rows["queue"][one.agent][min(3, len(rows["queue"][one.agent])):], " "), " ")
	task, _, _ = strings.Cut(task, " do: ") // the prompt
	if state, why, held := strings.Cut(one.queue, " "); held {
		one.queue = state + " " + queue.WhyInWords(session.Task{State: session.TaskState(state), Why: why})
	}
	for _, c := range []struct{ who, got, want string }{
		{"--json, the state", a.State, one.state}, {"--json, the word", a.Word, one.word}, {"status in a pipe", cell("pipe", 2), a.State},
		{"status", cell("status", 2), a.Word}, {"the desk", cell("desk", 3), a.Word}, {"wait", cell("wait", 1), waited},
		{"next", strings.TrimSpace(strings.Split(next.stdout+next.stderr, "\n")[0]), wants}, {"queue", task, one.queue},
		{"as a host", far.AgentStatus.InWords(), a.Word}, {"as a host, its group", groupNames[orchestrator.GroupOf(far)], group},
	} {
		if c.got != c.want && !(strings.HasSuffix(c.want, " ") && strings.HasPrefix(c.got, c.want)) {
			t.Errorf("%s (%s): %s says %q, want %q", one.agent, reason, c.who, c.got, c.want)
		}
	}
}

var groupNames = map[orchestrator.Group]string{
	orchestrator.NeedsYou: "NEEDS YOU", orchestrator.ToReview: "TO REVIEW", orchestrator.Working: "WORKING", orchestrator.Quiet: "QUIET",
}

// rowsIn returns the cells of each row about an agent, by SESSION/AGENT. A row of the desk begins with its group.
func rowsIn(shown string) map[string][]string {
	gaps, head := regexp.MustCompile(`\s{2,}`), regexp.MustCompile(`^(?:==(\w+)|(\w+)  (?:active|stopped) .*|([A-Z][A-Z ]*) \d+(?: .*)?)$`)
	rows, session, group := map[string][]string{}, "", ""
	for line := range strings.Lines(shown) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), "│")
		line = strings.TrimRight(line, " ")
		if m := head.FindStringSubmatch(line); m != nil {
			session, group = m[1]+m[2], m[3]
			continue
		}
		cells := gaps.Split(strings.ReplaceAll(strings.TrimLeft(line, " ?✗✓▸└"), "└ ", ""), -1)
		switch {
		case group != "" && len(cells) > 3 && strings.Contains(cells[1], "/"):
			rows[cells[1]] = append([]string{group}, cells[1:]...)
		case group == "" && len(cells) > 1:
			rows[session+"/"+cells[0]] = cells
		}
	}
	return rows
}

// nextAlone asks paw next as if a session had one agent only.
func (w *world) nextAlone(key string) output {
	w.t.Helper()
	name, agent, _ := strings.Cut(key, "/")
	data, err := os.ReadFile(filepath.Join(w.root, "home/.local/share/paw/sessions", name+".json"))
	var record map[string]any
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for _, one := range record["worktrees"].([]any) {
		if one.(map[string]any)["agent"] == agent {
			record["worktrees"] = []any{one}
		}
	}
	data, err = json.Marshal(record)
	if err != nil {
		w.t.Fatal(err)
	}
	alone := filepath.Join(w.root, "alone", name+"_"+agent)
	w.write(filepath.Join(alone, "paw/sessions"), name+".json", string(data))
	return w.pawWith([]string{"XDG_DATA_HOME=" + alone}, "next", "--dry-run")
}

// shownWithin returns what a script has put on a large terminal once a text is there.
func (w *world) shownWithin(script, text string) string {
	w.t.Helper()
	o := w.sized(200, 170, script+"; exec cat") // tmux may lose output right before the end of a program
	o.awaits(text)
	defer killServer(o.socket)
	return o.screen()
}

// inSituations brings about the situations. What hangs ends with the world's folder.
func (w *world) inSituations() {
	w.t.Helper()
	ok := func(words ...string) { w.t.Helper(); w.ok(w.paw(words...)) }
	w.configure(fmt.Sprintf("[worktree]\nsetup = '''case $PWD in */setting) while test -d %[1]s/shop; do sleep 0.1; done;; */unset) until test -e %[1]s/go_unset; do sleep 0.05; done; exit 3;; esac'''\n[queue]\nmax = 4\n", w.root))
	names := strings.Fields("fresh finished seen busy asks failed interrupted left exits killed closed stopped parent said gave_up headless unbranched " +
		"moved lost rewound typed copying foreign landed paused other")
	ok("start", "--cli", strings.Join(names, "=demo,")+"=demo", "--detach")
	for _, name := range []string{"gone", "booted", "off", "back"} {
		ok("start", "--name", name, "--cli", "calm=demo,cut=demo", "--detach")
	}
	ok("start", "--name", "spent", "--cli", "limited=demo", "--detach")
	ok("start", "--name", "lane", "--cli", "first=demo", "--detach")
	w.awaitStates("", names...)
	for agent, prompt := range map[string]string{
		"finished": "do: say hi", "seen": "do: say hi", "busy": "do: hang", "asks": "do: ask really", "failed": "do: fail overloaded", "limited": "do: limit 70000",
		"interrupted": "do: hang", "left": "do: exit 0", "exits": "do: exit 3", "killed": "do: hang", "parent": "do: run paw spawn --cli child=demo --prompt 'do: hang' && paw wait --notify",
		"said": "do: run paw done", "gave_up": "do: run paw done --outcome failure", "rewound": "do: write one.txt 1", "landed": "do: write two.txt 2", "paused": "do: hang",
		"gone/cut": "do: hang", "back/cut": "do: hang", "off/cut": "do: hang", "booted/cut": "do: hang",
	} {
		ok("send", agent, prompt)
	}
	w.awaitStates("idle", "finished", "seen", "rewound", "landed")
	w.awaitStates("running", "busy", "interrupted", "killed", "paused", "gone/cut", "back/cut", "off/cut", "booted/cut", "child")
	w.awaitStates("waiting_input", "asks")
	w.awaitStates("waiting_children", "parent")
	w.awaitStates("completed", "said", "left")
	w.awaitStates("error", "failed", "spent/limited", "gave_up", "exits")
	ok("seen", "seen")
	ok("rewind", "rewound", "0")
	ok("land", "landed")
	ok("stop", "stopped", "headless")
	ok("stop", "off")
	pane := func(agent string) string { return *w.of(agent).PaneID }
	w.ok(w.tmux("send-keys", "-t", pane("interrupted"), "C-c"))
	w.ok(w.tmux("send-keys", "-t", pane("typed"), "half a thought"))
	w.ok(w.tmux("copy-mode", "-t", pane("copying")))
	w.ok(w.tmux("respawn-pane", "-k", "-t", pane("foreign"), "exec sleep 1000"))
	w.ok(w.tmux("kill-pane", "-t", pane("closed")))
	_ = syscall.Kill(*w.of("killed").PID, syscall.SIGKILL)
	_ = syscall.Kill(*w.of("paused").PID, syscall.SIGSTOP)
	w.t.Cleanup(func() { _ = syscall.Kill(*w.of("paused").PID, syscall.SIGCONT) })
	w.git(w.repo, "update-ref", "-d", "refs/heads/paw/shop/unbranched")
	w.git(w.worktree("moved"), "commit", "-q", "--allow-empty", "-m", "x")
	w.git(w.repo, "update-ref", "refs/heads/paw/shop/moved", "main")
	w.git(w.worktree("other"), "checkout", "-q", "-b", "elsewhere")
	if err := os.RemoveAll(w.worktree("lost")); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range []string{"gone", "booted", "back"} {
		w.ok(w.tmux("kill-session", "-t", "=paw-"+name))
	}
	for _, agent := range []string{"calm", "cut"} {
		if err := ofAnotherBoot(filepath.Join(w.root, "home/.local/state/paw/locks/agent-booted-"+agent+".lock")); err != nil {
			w.t.Fatal(err)
		}
	}
	ok("recover", "back", "--detach")
	w.awaitStates("idle", "back/calm", "back/cut", "interrupted")
	w.begin("run", "shop/headless", "--prompt", "do: run while test -d "+w.repo+"; do sleep 0.1; done")
	ok("add", "--session", "shop", "--cli", "setting=demo")
	ok("add", "--session", "shop", "--cli", "unset=demo")
	w.release("unset") // else the add might see it fail
	w.checkoutHook("case $PWD in */made) touch " + w.root + "/making; while test -d " + w.repo + "; do sleep 0.1; done;; esac")
	w.begin("add", "--session", "shop", "--cli", "made=demo")
	w.awaitFile(filepath.Join(w.root, "making"))
	w.awaitStates("running", "setting", "headless")
	w.awaitStates("error", "unset", "killed")
	lane := func(id, prompt string, more ...string) {
		w.t.Helper()
		ok(append(append([]string{"queue", "add", "--session", "lane", "--cli", "demo", "--id", id}, more...), prompt)...)
	}
	lane("well", "do: say hi")
	lane("badly", "do: fail no")
	lane("behind", "do: say hi", "--after", "badly")
	lane("working", "do: hang")
	w.awaitStates("running", "lane/working")
	for _, agent := range strings.Fields("busy asks left exits killed closed stopped parent child setting unset made headless typed copying foreign") {
		ok("queue", "add", "--id", agent, "shop/"+agent, "do: say more")
	}
	ok("queue", "add", "--id", "limited", "spent/limited", "do: say more")
	waitFor(w.t, "the queue has tried to type", func() bool { return strings.Count(w.paw("queue", "shop", "--json").stdout, `"why":"`) == 16 })
}

// of returns an agent of session shop, or SESSION/AGENT.
func (w *world) of(agent string) agentJSON {
	w.t.Helper()
	name, rest, found := strings.Cut(agent, "/")
	if !found {
		name, rest = "shop", agent
	}
	for _, s := range w.view().Sessions {
		for _, a := range s.Agents {
			if s.Name == name && a.Name == rest {
				return a
			}
		}
	}
	return agentJSON{}
}

// awaitStates waits until agents are in a state, "" for idle.
func (w *world) awaitStates(state string, agents ...string) {
	w.t.Helper()
	if state == "" {
		state = "idle"
	}
	waitFor(w.t, fmt.Sprint(agents, " are ", state), func() bool {
		for _, agent := range agents {
			if w.of(agent).State != state {
				return false
			}
		}
		return true
	})
}
