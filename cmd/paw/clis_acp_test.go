//go:build clis

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// acpCommands have real CLIs speak ACP.
var acpCommands = map[string][]string{
	"gemini": {"gemini", "--acp"}, "qwen": {"qwen", "--acp"}, "opencode": {"opencode", "acp"}, "copilot": {"copilot", "--acp"}, "kimi": {"kimi", "acp"},
}

// TestCLIsByACP drives real CLIs by ACP in a pane: turns, permissions, queued prompts, Esc, and a kill in a question.
func TestCLIsByACP(t *testing.T) {
	for _, cli := range []string{"gemini", "qwen", "opencode", "copilot", "kimi"} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.model.Bills = true
			command, _ := json.Marshal(acpCommands[cli])
			file := filepath.Join(w.root, "home/.config/paw/config.toml")
			config, _ := os.ReadFile(file)
			args := ""
			if cli == "copilot" {
				args = `args = ["--allow-all-paths", "--allow-tool=write", "--allow-tool=shell(git:*)", "--allow-tool=shell(printf:*)",
	"--allow-tool=shell(test:*)", "--allow-tool=shell(sleep:*)", "--allow-tool=shell(rm:*)"]`
			}
			w.write(filepath.Dir(file), "config.toml", fmt.Sprintf("%s\n[clis.acp]\nacp = %s\n%s\n", config, command, args))
			w = w.as("acp")
			w.ok(w.paw("start", "--cli", "acp", "--detach"))
			for _, scenario := range []struct {
				name string
				do   func(*testing.T, *cliWorld)
			}{
				{"ten turns", acpTurns}, {"permissions", acpPermissions}, {"interrupt", interrupt}, {"API error", apiError},
				{"Esc before a queued prompt", acpQueue}, {"kills", acpKilled}, {"rewind", acpRewind}, {"twenty prompts", acpTwenty},
				{"crash", crashInTurn}, {"stop", stopAndLook},
			} {
				if scenario.name == "API error" && (cli == "copilot" || cli == "kimi") || // tell of it as of an answer
					(scenario.name == "interrupt" || scenario.name == "crash" || scenario.name == "stop") && cli == "kimi" { // asks for each command
					continue
				}
				if !w.during(t, scenario.name, func(t *testing.T) { scenario.do(t, w) }) {
					t.Fatalf("what comes after %s was not tried", scenario.name)
				}
			}
		})
	}
}

// acpTurns: ten turns are tagged, and each prompt is one of the same conversation.
func acpTurns(t *testing.T, w *cliWorld) {
	for n := 1; n <= 10; n++ {
		prompt := fmt.Sprintf("do: write %d.txt content\ndo: say Wrote %d.", n, n)
		w.send(prompt)
		one := w.allowed(n - 1)
		if one.Number != n || text(one.Message) != fmt.Sprintf("Wrote %d.", n) || *one.FilesChanged != 1 || one.Tag == nil {
			t.Fatalf("turn %d: %q, %d files, tag %v", one.Number, text(one.Message), *one.FilesChanged, one.Tag)
		}
		if asked, ok := w.model.Asked(prompt, 0); !ok || asked.Prompts != n {
			t.Errorf("%q was asked %v as prompt %d of its conversation", prompt, ok, asked.Prompts)
		}
	}
	if out := w.ok(w.paw("log", "acp")).stdout; !strings.Contains(out, "Wrote 10.") {
		t.Errorf("paw log:\n%s", out)
	}
	acpUsage(t, w)
}

// acpUsage: what some agents tell of their tokens is what the server has billed, but for what they ask for themselves. kimi tells nothing,
// and opencode of the last answer of each turn alone.
func acpUsage(t *testing.T, w *cliWorld) {
	var billed fakemodel.Bill
	for _, e := range w.model.Last(1000) {
		if !e.Aside {
			billed.Add(e.Bill)
		}
	}
	var usage usageJSON
	out := w.ok(w.paw("usage", "acp", "--json")).stdout
	if err := json.Unmarshal([]byte(out), &usage); err != nil {
		t.Fatal(err)
	}
	cli, total := strings.Split(t.Name(), "/")[1], usage.Agents[0].Total
	if !slices.Contains([]string{"gemini", "qwen", "copilot"}, cli) {
		return
	}
	if total == nil || total.Input+total.CacheRead != billed.Input+billed.CacheRead || total.Output != billed.Output {
		t.Errorf("the server billed %+v, and paw usage has\n%s", billed, out)
	}
}

// acpPermissions: answered yes, no, and interrupted.
func acpPermissions(t *testing.T, w *cliWorld) {
	for _, answer := range []string{"yes", "no", ""} {
		before := w.last().Number
		w.send("do: ask touch " + answer + "granted.txt\ndo: say Over.")
		w.await("it waits with the question", func() bool {
			a := w.agent("acp")
			return a.State == "waiting_input" && strings.Contains(text(a.Reason), "granted.txt")
		})
		t.Logf("%s", w.paw("answer", "acp").stdout)
		if answer == "" {
			w.ok(w.paw("interrupt", "acp"))
			if one := w.over(before); text(one.Reason) != "interrupted" {
				t.Errorf("interrupted: %s %s", one.State, text(one.Reason))
			}
			continue
		}
		w.ok(w.paw("answer", "acp", answer))
		w.over(before)
		if w.has(answer+"granted.txt") != (answer == "yes") {
			t.Errorf("answered %s, and the command ran: %v", answer, w.has(answer+"granted.txt"))
		}
	}
}

// acpQueue: prompts wait behind a turn, of which an Esc ends one.
func acpQueue(t *testing.T, w *cliWorld) {
	before := w.last().Number
	w.send("do: hang")
	w.await("the model hangs", func() bool { _, asked := w.model.Asked("do: hang", 0); return asked })
	w.send("do: say Second.")
	w.ok(w.paw("interrupt", "acp"))
	w.await("the queued prompt is answered", func() bool { return w.last().Number == before+2 && w.last().State == "finished" })
	if text(w.last().Message) != "Second." {
		t.Errorf("%q", text(w.last().Message))
	}
}

// acpKilled: the agent is killed in a question, and then its pane. The conversation goes on.
func acpKilled(t *testing.T, w *cliWorld) {
	for _, what := range []string{"agent", "pane"} {
		before := w.last().Number
		w.send("do: ask touch " + what + ".txt\ndo: say Over.")
		w.await("it waits with the question", func() bool { return w.agent("acp").State == "waiting_input" })
		pid := *w.agent("acp").PID
		if what == "agent" {
			pid = w.agentOf(pid)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.await("it has ended", func() bool { return w.agent("acp").PID == nil })
		if out := w.ok(w.paw("recover", "shop", "acp", "--detach")); !strings.Contains(out.stdout, "resumed") {
			t.Errorf("recover after the %s was killed:\n%s", what, out.stdout)
		}
		prompt := "do: ask touch again-" + what + ".txt\ndo: say After the " + what + "."
		w.send(prompt)
		one := w.allowed(before + 1) // kimi first goes on with what it was killed in
		if !w.has("again-"+what+".txt") || text(one.Message) != "After the "+what+"." {
			t.Errorf("turn %d: %q", one.Number, text(one.Message))
		}
		// kimi 2.1.0 puts the cut prompt and the next one together.
		shows := w.screen("acp")
		if asked, ok := w.model.Asked(prompt, 0); ok && asked.Prompts < 10 || strings.Contains(shows, "begins anew") {
			t.Errorf("after the kill it was asked %v as prompt %d of its conversation:\n%s", ok, asked.Prompts, shows)
		}
	}
}

// acpRewind: after a rewind the files are as at the end of the turn, after the undo as before, and the conversation goes on.
func acpRewind(t *testing.T, w *cliWorld) {
	n := w.last().Number + 1
	w.send("do: write kept.txt 1\ndo: say Kept.")
	w.allowed(n - 1)
	w.send("do: write later.txt 2\ndo: say Later.")
	w.allowed(n)
	w.ok(w.paw("rewind", "acp", fmt.Sprint(n)))
	if w.has("later.txt") || !w.has("kept.txt") {
		t.Error("the files are not those of the turn's end")
	}
	w.ok(w.paw("rewind", "acp", "--undo"))
	if !w.has("later.txt") {
		t.Error("after --undo the file is not back")
	}
}

// acpTwenty: of twenty prompts, sent one behind the other while the machine is busy, each is a turn with its own answer.
func acpTwenty(t *testing.T, w *cliWorld) {
	w.model.Bills = false // by its bills the conversation would soon be too long for qwen
	defer busy(t)()
	before := w.last().Number
	for n := 1; n <= channelRounds; n++ {
		w.send(fmt.Sprintf("do: say Round %d.", n))
	}
	w.await("all are answered", func() bool { return w.last().Number >= before+channelRounds && w.agent("acp").State == "idle" })
	for n := 1; n <= channelRounds; n++ {
		if one := w.turn(before + n); text(one.Message) != fmt.Sprintf("Round %d.", n) || one.Tag == nil {
			t.Errorf("turn %d: %s, %q", one.Number, one.State, text(one.Message))
		}
	}
}

// agentOf returns the process of the agent that a program of paw has as its child, beside hooks. kimi changes its own command line.
func (w *cliWorld) agentOf(program int) (pid int) {
	w.t.Helper()
	children, err := exec.Command("ps", "-o", "pid=,args=", "--ppid", fmt.Sprint(program)).Output()
	for line := range strings.Lines(string(children)) {
		if !strings.Contains(line, " hook acp ") {
			_, _ = fmt.Sscan(line, &pid)
		}
	}
	if pid == 0 {
		w.t.Fatalf("it has no agent: %v\n%s", err, children)
	}
	return pid
}

// allowed waits for the end of a turn above that number, and allows what it asks for.
func (w *cliWorld) allowed(after int) turnJSON {
	w.t.Helper()
	w.await("its turn is over", func() bool {
		if w.agent("acp").State == "waiting_input" {
			w.ok(w.paw("answer", "acp", "yes"))
		}
		one := w.last()
		return one.Number > after && one.State != "in_progress"
	})
	return w.finished(after)
}

// over waits until a turn above that number has ended in whatever way.
func (w *cliWorld) over(after int) turnJSON {
	w.t.Helper()
	w.await("its turn is over", func() bool { one := w.last(); return one.Number > after && one.State != "in_progress" })
	return w.last()
}
