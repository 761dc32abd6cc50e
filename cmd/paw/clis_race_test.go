//go:build clis

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// modelPaths are the addresses at which CLIs ask the scripted model.
var modelPaths = map[string]string{"claude": "/messages", "codex": "/responses"}

// TestCLIsRace gives two CLIs one prompt. The first CLI's work passes the check after its first turn, the other's after a second
// prompt. The first one is picked: its work lands, and the other CLI is stopped.
func TestCLIsRace(t *testing.T) {
	for first, other := range map[string]string{"claude": "codex", "codex": "claude"} {
		t.Run(first, func(t *testing.T) {
			w := newCLIWorld(t, first, other)
			w.env = append(w.env, "PAW_QUEUE_PACE=2s,0s,1s,5s")
			w.bodies.understood = []understanding{
				{by: modelPaths[first], text: "Answer the question.", steps: "do: write answer.txt right\ndo: say It is answered."},
				{by: modelPaths[other], text: "Answer the question.", steps: "do: write answer.txt wrong\ndo: say It is answered, too."},
			}
			w.write(w.root, "task.md", "Answer the question.")
			w.ok(w.paw("start", "--cli", "demo", "--detach"))
			w.ok(w.paw("race", "--cli", first+","+other, "--prompt-file", filepath.Join(w.root, "task.md"), "--check", "grep -q right answer.txt"))
			type racer struct {
				CLI, Agent, Result string
				GreenAt            int `json:"green_at"`
				Tokens             any
			}
			racers := func() []racer {
				var race struct{ Races []struct{ Racers []racer } }
				out := w.ok(w.paw("race", "--json")).stdout
				if err := json.Unmarshal([]byte(out), &race); err != nil || len(race.Races) != 1 {
					t.Fatal(err, out)
				}
				return race.Races[0].Racers
			}
			w.await("both were checked", func() bool {
				all := racers()
				return all[0].Result == "pass" && all[1].Result == "fail"
			})
			w.ok(w.paw("send", "race_2", "do: write answer.txt right"))
			w.await("the other one passes", func() bool { return racers()[1].Result == "pass" })
			all := racers()
			if all[0].GreenAt != 1 || all[1].GreenAt != 2 || all[0].CLI != first || all[0].Tokens == nil || all[1].Tokens == nil {
				t.Errorf("%+v", all)
			}
			t.Log(w.ok(w.paw("race")).stdout)
			w.ok(w.paw("race", "pick", "race", "race_1"))
			if got, err := os.ReadFile(filepath.Join(w.repo, "answer.txt")); err != nil || strings.TrimSpace(string(got)) != "right" {
				t.Errorf("landed: %q, %v", got, err)
			}
			if a, b := w.agent("race_1"), w.agent("race_2"); a.State != "idle" || b.State != "suspended" {
				t.Errorf("%+v\n%+v", a, b)
			}
		})
	}
}

// TestCLIsAdopt: a conversation that was had by hand in the checkout goes on in an agent.
func TestCLIsAdopt(t *testing.T) {
	for cli, program := range map[string]string{"claude": "claude", "codex": "codex -c check_for_update_on_startup=false"} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			other := w.root + "/other"
			w.ok(w.run(w.repo, nil, "tmux", "-S", other, "new-session", "-d", "-x", "100", "-y", "40", program+" 'do: say The milk is remembered.'"))
			defer killServer(other)
			shown := ""
			defer func() {
				if t.Failed() {
					t.Log(shown)
				}
			}()
			w.await("the answer is on its screen", func() bool {
				shown = w.run(w.root, nil, "tmux", "-S", other, "capture-pane", "-p").stdout
				return strings.Count(shown, "The milk is remembered.") > strings.Count(shown, "do: say The milk is remembered.")
			})
			killServer(other)
			w.ok(w.paw("start", "--cli", "demo", "--detach"))
			out := w.ok(w.paw("add", "--cli", cli, "--conversation", "last"))
			if !strings.Contains(out.stdout, "with a copy of your conversation") {
				t.Error(out.stdout)
			}
			w.awaitState("idle")
			w.work("do: write more.txt 1")
			log := w.ok(w.paw("log", cli)).stdout
			if !strings.Contains(log, "The milk is remembered.") || !strings.Contains(log, "more.txt") {
				t.Error(log)
			}
			w.ok(w.paw("land", cli))
			if _, err := os.Stat(filepath.Join(w.repo, "more.txt")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCLIsCI: the failed checks of a pull request go to the CLI by themselves, what it mends is pushed, and so are the
// remarks of a review when its user asks for that.
func TestCLIsCI(t *testing.T) {
	for _, cli := range []string{"claude", "codex"} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.env = append(w.env, "PAW_QUEUE_PACE=2s,0s,1s,5s,6h,30s,1s", "PATH="+w.root+"/bin:"+os.Getenv("PATH"))
			withForge(w.world)
			pull := func(commit, conclusion string) {
				w.write(w.root, "pull.json", `{"state":"OPEN","headRefOid":"`+commit+`","baseRefName":"main","statusCheckRollup":[{"name":"test","workflowName":"go","conclusion":"`+
					conclusion+`","detailsUrl":"https://github.com/acme/shop/actions/runs/1/job/11"}]}`)
			}
			pull("aaaa", "FAILURE")
			w.script(w.root+"/bin", "gh", `#!/bin/sh
case "$*" in
"pr list "*) echo '[]' ;;
"pr create "*) cat >/dev/null; echo https://github.com/acme/shop/pull/7 ;;
"pr view 7 "*) cat `+w.root+`/pull.json ;;
"api "*reviewThreads*) echo '[{"path":"mended.txt","line":1,"comments":{"nodes":[{"author":{"login":"ann"},"body":"Why 1?"}]}}]' ;;
"api "*) echo '[]' ;;
"run view "*) printf 'test\tRun\t2026-11-30T10:00:01.1Z FAIL: TestLogin\n' ;;
*) exit 2 ;;
esac`)
			w.bodies.understood = []understanding{
				{by: modelPaths[cli], text: "comment of its reviewers", steps: "do: write mended.txt 2\ndo: say Two."},
				{by: modelPaths[cli], text: "CI has failed on your pull request", steps: "do: write mended.txt 1\ndo: say Mended."},
			}
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			w.awaitState("idle")
			w.work("do: write login.txt 1")
			w.ok(w.paw("pr", cli))
			w.ok(w.paw("queue", "add", cli, "--on", "ci", "--push"))
			server := filepath.Join(w.root, "server/acme/shop.git")
			branch := w.agent(cli).Branch
			w.await("what it has mended is pushed", func() bool {
				files, _ := exec.CommandContext(t.Context(), "git", "--git-dir", server, "ls-tree", "--name-only", branch).Output()
				return strings.Contains(string(files), "mended.txt")
			})
			pull("bbbb", "SUCCESS")
			w.await("the checks have passed", func() bool {
				return strings.Contains(w.ok(w.paw("queue", "--json")).stdout, `"state":"done"`)
			})
			if n := strings.Count(w.ok(w.paw("turns", cli)).stdout, "CI failed on #7: 1"); n != 1 {
				t.Errorf("%d prompts with failed checks", n)
			}
			w.ok(w.paw("send", cli, "--review", "--yes"))
			w.await("the remark is dealt with", func() bool {
				got, _ := os.ReadFile(filepath.Join(w.worktree(cli), "mended.txt"))
				return strings.TrimSpace(string(got)) == "2"
			})
			t.Log(w.ok(w.paw("turns", cli)).stdout, w.ok(w.paw("status", "--pr")).stdout)
		})
	}
}
