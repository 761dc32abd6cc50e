package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// release ends the turns whose prompt is held(name).
func (w *world) release(name string) {
	w.t.Helper()
	w.write(w.root, "go_"+name, "")
}

// held returns a prompt whose turn lasts until release.
func (w *world) held(name string) string {
	return fmt.Sprintf("do: run until test -e %s; do sleep 0.05; done", filepath.Join(w.root, "go_"+name))
}

// deliveries returns the turns of an agent whose prompt reports how its children ended.
func (w *world) deliveries(agent string) []turnJSON {
	w.t.Helper()
	var told []turnJSON
	for _, one := range w.turnsOf(agent) {
		if strings.HasPrefix(one.Prompt, "[paw wait ") {
			told = append(told, one)
		}
	}
	return told
}

// awaitDelivery waits for the end of the first turn in deliveries.
func (w *world) awaitDelivery(agent string) {
	w.t.Helper()
	waitFor(w.t, agent+" was told", func() bool {
		told := w.deliveries(agent)
		return len(told) > 0 && told[0].EndedAt != nil
	})
}

// waits reports whether the record has a wait of the agent.
func (w *world) waits(agent string) bool {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.root, "home/.local/share/paw/sessions/shop.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	var record struct {
		Worktrees []struct {
			Agent string
			Wait  *json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &record); err != nil {
		w.t.Fatal(err)
	}
	for _, one := range record.Worktrees {
		if one.Agent == agent {
			return one.Wait != nil
		}
	}
	return false
}

// TestKilledDeliveries kills every process of paw after one step of a wait or its delivery. The
// parent is prompted once; or never, if paw was killed after recording and before typing the
// prompt, and then paw status says so.
func TestKilledDeliveries(t *testing.T) {
	t.Parallel()
	for step, unconfirmed := range map[string]bool{
		"wait.recorded": false, "turn.ended": false, "deliver.recorded": true, "deliver.typed": false, "deliver.acknowledged": false,
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.startWith([]string{"PAW_TEST_KILL=" + step}, "p")
			w.spawn("p", "--cli", "c=demo", "--prompt", w.held("c"))
			waitFor(t, "the child works", func() bool { return w.agent("c").State == "running" })
			w.ok(w.paw("send", "p", "do: run paw wait --notify || true"))
			waitFor(t, "the parent waits", func() bool { return w.agent("p").State == "waiting_children" })
			waitFor(t, "the parent's turn is over", func() bool { return w.turnsOf("p")[0].EndedAt != nil })
			w.release("c")
			waitFor(t, "the child's turn is over", func() bool { return w.turnsOf("c")[0].EndedAt != nil })
			if unconfirmed {
				w.checkUnconfirmed("p", "c")
				return
			}
			w.awaitDelivery("p")
			waitFor(t, "nothing is owed any more", func() bool { return w.agent("p").State == "idle" })
			w.ok(w.paw("send", "p", "do: say after all"))
			waitFor(t, "another turn", func() bool {
				list := w.turnsOf("p")
				return list[len(list)-1].Prompt == "do: say after all" && list[len(list)-1].EndedAt != nil
			})
			if told := w.deliveries("p"); len(told) != 1 || !strings.Contains(told[0].Prompt, "c (demo): success, branch paw/shop/c, turn 1") {
				t.Errorf("the parent was told by %+v", told)
			}
			waitFor(t, "the record is clean", func() bool { return !w.waits("p") })
		})
	}
}

// A child whose CLI or hooks were killed reports nothing. Its parent is prompted nevertheless,
// without a command of the user, even after a recover in between.
func TestAKilledChildReachesItsParent(t *testing.T) {
	t.Parallel()
	for name, recovered := range map[string]bool{"at once": false, "after a recover": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t, "p")
			w.spawn("p", "--cli", "c=demo", "--prompt", "do: hang")
			waitFor(t, "the child works", func() bool { return w.agent("c").State == "running" })
			w.ok(w.paw("send", "p", "do: run paw wait --notify"))
			waitFor(t, "the parent's turn is over", func() bool { return w.turnsOf("p")[0].EndedAt != nil })
			if recovered {
				killServer(w.socket)
				w.ok(w.paw("recover", "--detach"))
				waitFor(t, "the child is back", func() bool { return w.agent("c").State == "idle" })
				w.ok(w.paw("send", "c", "do: hang"))
				waitFor(t, "the child works again", func() bool { return w.agent("c").State == "running" })
			}
			waitFor(t, "nobody is about to look because of what was before", func() bool { return w.inside("__deliver") == 0 })
			if a := w.agent("p"); a.State != "waiting_children" || !strings.HasSuffix(*a.Reason, "(0 of 1 done)") {
				t.Fatalf("the parent %s: %v", a.State, a.Reason)
			}
			if err := syscall.Kill(*w.agent("c").PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			w.awaitDelivery("p")
			if told := w.deliveries("p"); len(told) != 1 || !strings.Contains(told[0].Prompt, "c (demo): killed by signal 9") {
				t.Errorf("the parent was told by %+v", told)
			}
		})
	}
}

// checkUnconfirmed checks what status, wait and recover say about results whose prompt was about to
// be typed when paw was killed.
func (w *world) checkUnconfirmed(parent, child string) {
	w.t.Helper()
	const what = "the results of c were typed"
	waitFor(w.t, "the status says that it is not confirmed", func() bool {
		a := w.agent(parent)
		return a.State == "idle" && a.Reason != nil && strings.HasPrefix(*a.Reason, what+" and not confirmed")
	})
	if out := w.ok(w.paw("wait", child)); !strings.HasPrefix(out.stdout, child+"  success  turn 1") {
		w.t.Errorf("paw wait prints %q", out.stdout)
	}
	if out := w.paw("recover", "--detach"); !strings.Contains(out.stderr, parent+": "+what+" and not confirmed; paw wait c shows them") {
		w.t.Errorf("recover says %q", out.stderr)
	}
	w.ok(w.paw("send", parent, "do: say what about them"))
	waitFor(w.t, "the next turn says so", func() bool {
		list := w.turnsOf(parent)
		return strings.Contains(strings.Join(list[len(list)-1].Notes, "\n"), what+" before and not confirmed")
	})
	waitFor(w.t, "it is not shown any more", func() bool { return w.agent(parent).Reason == nil && w.agent(parent).State == "idle" })
	if told := w.deliveries(parent); len(told) != 0 || w.waits(parent) {
		w.t.Errorf("told by %+v, waits: %t", told, w.waits(parent))
	}
}

// A parent of many children that end at once is prompted once.
func TestEightChildrenEndAtOnce(t *testing.T) {
	t.Parallel()
	w := started(t, "p")
	const children = 8
	for i := range children {
		w.spawn("p", "--cli", fmt.Sprintf("c%d=demo", i), "--prompt", w.held("c"))
	}
	waitFor(t, "all work", func() bool {
		busy := 0
		for _, a := range w.view().Sessions[0].Agents {
			if a.State == "running" {
				busy++
			}
		}
		return busy == children
	})
	w.ok(w.paw("send", "p", "do: run paw wait --notify"))
	waitFor(t, "the parent waits for all", func() bool {
		reason := w.agent("p").Reason
		return reason != nil && strings.HasSuffix(*reason, "(0 of 8 done)")
	})
	w.release("c")
	w.awaitDelivery("p")
	waitFor(t, "nothing is owed any more", func() bool { return !w.waits("p") && w.agent("p").State == "idle" })
	waitFor(t, "no delivery is under way", func() bool { return w.inside("__deliver") == 0 })
	told := w.deliveries("p")
	if len(told) != 1 || !strings.Contains(told[0].Prompt, "All 8 agents you waited for have ended.") {
		t.Errorf("told by %+v", told)
	}
	for i := range children {
		if !strings.Contains(told[0].Prompt, fmt.Sprintf("\nc%d (demo): success, branch paw/shop/c%d, turn 1", i, i)) {
			t.Errorf("nothing of c%d in %s", i, told[0].Prompt)
		}
	}
}

// paw types no prompt into a dialog of the parent; and the process that waits for the dialog's end
// does not hold the child's lock, which the hook that started it had.
func TestADeliveryWaitsForADialogAndHoldsNoLock(t *testing.T) {
	t.Parallel()
	w := started(t, "p")
	w.spawn("p", "--cli", "c=demo", "--prompt", w.held("c"))
	waitFor(t, "the child works", func() bool { return w.agent("c").State == "running" })
	w.ok(w.paw("send", "p", "do: run paw wait --notify\ndo: ask really"))
	waitFor(t, "the parent asks", func() bool {
		reason := w.agent("p").Reason
		return reason != nil && *reason == "waits for c (0 of 1 done); and for you: really"
	})
	child := *w.agent("c").PID
	w.release("c")
	waitFor(t, "a delivery waits", func() bool { return w.inside("__deliver") == 1 && w.agent("c").State == "idle" })
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the lock of the child is free", func() bool {
		a := w.agent("c")
		return a.State == "error" && a.PID == nil
	})
	if w.inside("__deliver") == 0 { // the child's death may have started another such process
		t.Fatal("the delivery ended before the dialog")
	}
	if a := w.agent("p"); *a.Reason != "waits for the results of c (1 of 1 done); and for you: really" {
		t.Errorf("the dialog is gone: %q", *a.Reason)
	}
	w.ok(w.tmux("send-keys", "-t", *w.agent("p").PaneID, "y"))
	waitFor(t, "the parent was told", func() bool { return len(w.deliveries("p")) == 1 })
	waitFor(t, "nothing is owed any more", func() bool { return !w.waits("p") && w.inside("__deliver") == 0 })
	if list := w.turnsOf("p"); len(list) != 2 || list[0].State != "finished" {
		t.Errorf("turns of the parent: %+v", list)
	}
}
