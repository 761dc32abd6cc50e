package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type raceJSON struct {
	Races []struct {
		Name, Over string
		Racers     []struct {
			Agent    string
			Verdicts []struct {
				Turn   int
				Result string
			}
		}
	}
}

func (w *world) race() (r raceJSON) {
	out := w.paw("race", "--json")
	w.ok(out)
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// TestRaceInAnyOrder has the processes of a race killed after random steps while other terminals look at
// it and its agents get more prompts, and has the pick killed after each of its steps: in the end each
// turn has one verdict, no state that has passed was checked again, and one work has landed once.
func TestRaceInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 43))
			w := newWorld(t)
			w.env = append(w.env, "PAW_QUEUE_PACE=1s,0s,1s,2s")
			w.start("me")
			w.write(w.root, "task.md", "do: run echo $PAW_AGENT >>answer.txt")
			check := "echo run >>" + filepath.Join(w.root, "runs") + "; grep -q race answer.txt"
			steps := []string{"race.judged", "check.place", "queue.settled", "queue.claimed", "queue.started"}
			killed := func() []string { return []string{"PAW_TEST_KILL=" + steps[random.IntN(len(steps))]} }
			w.ok(w.pawWith(killed(), "race", "--cli", "demo,demo", "--prompt-file", filepath.Join(w.root, "task.md"), "--check", check))
			turns := func() (n int) {
				for _, agent := range []string{"race_1", "race_2"} {
					logs, _ := filepath.Glob(filepath.Join(w.root, "home/.local/state/paw/turns/shop", agent, "turn-*.log"))
					n += len(logs)
				}
				return n
			}
			for range 6 {
				switch random.IntN(3) {
				case 0:
					w.atOnceWith(killed(), 2, func(int) []string { return []string{"race"} })
				case 1:
					w.pawWith(killed(), "queue", "go", "--all")
				case 2:
					if agent := []string{"race_1", "race_2"}[random.IntN(2)]; w.paw("path", agent).code == 0 {
						w.paw("send", agent, fmt.Sprintf("do: append answer.txt more %d", random.IntN(1000)))
					}
				}
			}
			w.paw("queue", "go", "--all")
			waitFor(t, "every turn has a verdict", func() bool {
				judged := 0
				for _, one := range w.race().Races[0].Racers {
					judged += len(one.Verdicts)
				}
				if q := w.paw("queue").stdout; strings.Contains(q, "held") { // a start that was killed may have begun
					w.paw("queue", "retry", "race_1", "race_2")
				}
				return judged >= 2 && judged == turns()
			})
			seen := map[string]bool{}
			for _, one := range w.race().Races[0].Racers {
				for _, v := range one.Verdicts {
					if key := fmt.Sprint(one.Agent, v.Turn); v.Result != "pass" || seen[key] {
						t.Errorf("%s: %s, seen before: %t", key, v.Result, seen[key])
					}
					seen[fmt.Sprint(one.Agent, v.Turn)] = true
				}
			}
			ran, _ := os.ReadFile(filepath.Join(w.root, "runs"))
			if n := strings.Count(string(ran), "run"); n > len(seen)+8 { // one that is killed in the check may run once more
				t.Errorf("%d runs of the check for %d turns", n, len(seen))
			}
			for _, step := range []string{"land.recorded", "race.landed", "race.ended"} {
				if out := w.pawWith([]string{"PAW_TEST_KILL=" + step}, "race", "pick", "race", "race_1"); out.code != 137 {
					t.Errorf("pick killed at %s: %d %s", step, out.code, out.stderr)
				}
			}
			w.ok(w.paw("race", "pick", "race", "race_1"))
			if got := strings.TrimSpace(w.git(w.repo, "rev-list", "--count", "main")); got != "2" {
				t.Errorf("%s commits on main, want 2", got)
			}
			if r := w.race().Races[0]; !strings.HasPrefix(r.Over, "picked race_1@") || w.agent("race_2").State != "suspended" {
				t.Errorf("the race is %q, race_2 %s", r.Over, w.agent("race_2").State)
			}
		})
	}
}
