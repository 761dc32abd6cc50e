package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// onCI is a world with a server whose checks pass as soon as mended.txt has three lines, and an agent
// that adds one whenever it is told that they have failed. The server has no checks of a commit the
// first time that it is asked.
func onCI(t *testing.T) *world {
	w := newWorld(t)
	w.env = append(w.env, "PAW_QUEUE_PACE=1s,0s,1s,2s,6h,30s,1s", "PATH="+w.root+"/bin:"+os.Getenv("PATH"))
	withForge(w)
	// The demo CLI does what the line with the name of the check says.
	w.script(w.root+"/bin", "gh", `#!/bin/sh
cd `+w.root+`
of="git --git-dir server/acme/shop.git"
case "$1 $2" in
"pr list") [ -e asked ] && echo '[{"url":"https://github.com/acme/shop/pull/7"}]' || echo '[]' ;;
"pr create") cat >/dev/null; echo >>asked; echo https://github.com/acme/shop/pull/7 ;;
"pr view")
  commit=$($of rev-parse refs/heads/paw/shop/one) checks= how=FAILURE
  [ "$($of show $commit:mended.txt 2>/dev/null | wc -l)" -lt 3 ] || how=SUCCESS
  [ ! -e $commit ] || checks='{"name":"do: run echo mended >>mended.txt #","conclusion":"'$how'","detailsUrl":""}'
  : >$commit
  printf '{"state":"OPEN","headRefOid":"%s","baseRefName":"main","statusCheckRollup":[%s]}' $commit "$checks" ;;
"api "*) echo '[]' ;;
*) exit 2 ;;
esac`)
	w.start("one")
	w.did("one", "do: write draft.txt 1")
	w.ok(w.paw("pr", "one"))
	return w
}

var ciCommit = regexp.MustCompile(`(?m)^Commit: ([0-9a-f]{12})$`)

// TestCIInAnyOrder has the processes of a task on the checks of a pull request killed after random
// steps, while other terminals look at it, push and type: in the end the checks have passed on what is
// pushed, and no commit's failure was typed twice unless its user said so.
func TestCIInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 43))
			w := onCI(t)
			steps := []string{"queue.checked", "queue.settled", "queue.claimed", "queue.typed", "queue.pushed", "pr.recorded", "pr.pushed"}
			killed := func() []string { return []string{"PAW_TEST_KILL=" + steps[random.IntN(len(steps))]} }
			w.pawWith(killed(), "queue", "add", "one", "--on", "ci", "--push", "--retries", "20")
			if !strings.Contains(w.paw("queue").stdout, "t1") {
				w.ok(w.paw("queue", "add", "one", "--on", "ci", "--push", "--retries", "20"))
			}
			again := 0
			for range 8 {
				switch random.IntN(4) {
				case 0:
					w.atOnceWith(killed(), 2, func(int) []string { return []string{"queue", "go", "--all"} })
				case 1:
					w.pawWith(killed(), "queue")
				case 2:
					w.pawWith(killed(), "pr", "one")
				case 3:
					w.paw("send", "one", fmt.Sprintf("do: append own.txt %d", random.IntN(1000)))
				}
			}
			waitFor(t, "the checks pass", func() bool {
				var list struct {
					Tasks []struct{ State string }
				}
				if err := json.Unmarshal([]byte(w.ok(w.paw("queue", "--json")).stdout), &list); err != nil || len(list.Tasks) != 1 {
					t.Fatal(err, list)
				}
				switch task := list.Tasks[0]; {
				case task.State == "held":
					if strings.Contains(w.paw("queue", "go", "--all").stdout, "may have been typed") {
						again++
						w.paw("queue", "retry", "t1")
					}
				case task.State == "done":
					return true
				case task.State == "failed":
					t.Fatal(w.paw("queue").stdout)
				}
				return false
			})
			pushed := w.git(w.repo, "--git-dir", filepath.Join(w.root, "server/acme/shop.git"), "show", "paw/shop/one:mended.txt")
			if n := strings.Count(pushed, "mended"); n < 3 {
				t.Errorf("%d lines are pushed", n)
			}
			told, twice := map[string]int{}, 0
			for _, one := range w.turnsOf("one") {
				if found := ciCommit.FindStringSubmatch(one.Prompt); found != nil {
					if told[found[1]]++; told[found[1]] > 1 {
						twice++
					}
				}
			}
			if len(told) < 3 || twice > again {
				t.Errorf("told of %v, %d times again as its user said\n%s", told, again, w.paw("turns", "one").stdout)
			}
		})
	}
}
