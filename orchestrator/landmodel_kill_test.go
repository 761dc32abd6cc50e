package orchestrator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"paw/orchestrator/app"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/worktree/gitdir"
)

// TestKilledModelCommand is a command of the model in a process of its own, which kills itself after a step of it.
func TestKilledModelCommand(t *testing.T) {
	command := strings.Fields(os.Getenv("PAW_MODEL_COMMAND"))
	if len(command) == 0 {
		t.Skip("is run by TestLandingsSurviveKills")
	}
	h := modelHome(os.Getenv("PAW_MODEL_DIR"), func(string) {})
	left, _ := strconv.Atoi(os.Getenv("PAW_MODEL_KILL"))
	h.Step = func(string) {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	s, err := h.Load("s")
	if err == nil {
		err = modelCommand(t.Context(), h, s, command)
	}
	if err != nil {
		t.Log(err)
	}
}

// modelCommand does what the words of a command say.
func modelCommand(ctx context.Context, h *app.App, s *session.Session, command []string) (err error) {
	switch command[0] {
	case "land":
		o := landing.Options{As: landing.As(command[2]), NoCheck: true}
		if len(command) > 3 {
			o.Turn = command[3]
		}
		_, err = landing.Land(ctx, h, s, command[1], o)
	case "undo":
		_, err = landing.Undo(ctx, h, s, 0, false)
	case "update":
		_, err = landing.Update(ctx, h, s, command[1], "", false)
	case "rewind":
		n, _ := strconv.Atoi(command[2])
		_, err = Rewind(ctx, h, s, command[1], n, RewindOptions{})
	}
	return err
}

// killed runs a command that is killed after some steps and then recovers; it says whether the kill came.
func (m *landModel) killed(after int, command ...string) bool {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledModelCommand$")
	cmd.Dir = m.repo
	cmd.Env = append(os.Environ(), "PAW_MODEL_COMMAND="+strings.Join(command, " "), "PAW_MODEL_DIR="+filepath.Dir(m.repo), "PAW_MODEL_KILL="+strconv.Itoa(after))
	out, err := cmd.CombinedOutput()
	status, ended := cmd.ProcessState.Sys().(syscall.WaitStatus)
	was := ended && status.Signaled()
	if err != nil && !was {
		m.t.Fatalf("%v: %s", command, out)
	}
	if _, err := landing.Finish(m.t.Context(), m.h, m.load(), func(gitdir.Checkout) error { return nil }); err != nil {
		m.fail("recover after %v: %v", command, err)
	}
	for _, l := range m.load().Landings {
		if landing.Unfinished(l) {
			m.fail("recover after %v: landing %d is still %s", command, l.ID, l.Phase)
		}
	}
	return was
}

// stepKilled kills a command in its midst: after recover it was done or it was not, and the model learns which.
func (m *landModel) stepKilled(r *rand.Rand) string {
	a, after := m.some(r), 1+r.IntN(9)
	said := fmt.Sprintf("killed after step %d: ", after)
	switch r.IntN(6) {
	case 0, 1:
		return m.landKilled(a, 0, landing.Forms[max(r.IntN(5)-2, 0)], after)
	case 2:
		return m.landKilled(a, r.IntN(len(a.turns)), landing.Forms[max(r.IntN(5)-2, 0)], after)
	case 3:
		was := m.killed(after, "undo")
		return m.counted(was, said+"undo")
	case 4:
		return m.updateKilled(a, after)
	}
	number := r.IntN(len(a.turns))
	shifts := len(m.load().Agent(a.name).Shifts)
	was := m.killed(after, "rewind", a.name, strconv.Itoa(number))
	said += fmt.Sprintf("rewind %s %d", a.name, number)
	goal, there := a.turns[number].clone(), m.read(m.worktree(a.name))
	if there.equal(goal.has) && (!goal.has.equal(a.now.has) || len(m.s.Agent(a.name).Shifts) > shifts) {
		a.now = goal
		said += ", done"
	}
	a.undo = nil // which of two it goes back to is not looked at here
	return m.counted(was, said)
}

// landKilled kills a landing of the state of a turn, of that of the moment with 0.
func (m *landModel) landKilled(a *modelAgent, number int, as landing.As, after int) string {
	tip, before := m.tip(), m.main()
	state, command := &a.now, []string{"land", a.name, string(as)}
	if number > 0 {
		state, command = &a.turns[number], append(command, strconv.Itoa(number))
	}
	want, conflicts := m.expected(*state, false)
	was := m.killed(after, command...)
	said := fmt.Sprintf("killed after step %d: %s", after, strings.Join(command, " "))
	for _, l := range m.s.Landings {
		if m.tip() != tip && l.After == m.tip() && l.Phase == session.LandingDone {
			if len(conflicts) > 0 {
				m.fail("%s: landed, and should have conflicted in %q", said, conflicts)
			}
			m.landed(a, state, number, &landing.Landed{Landing: l}, tip, before, want)
		}
	}
	return m.counted(was, said)
}

// updateKilled kills an update.
func (m *landModel) updateKilled(a *modelAgent, after int) string {
	want, conflicts, told := m.brought(a)
	head := m.git(m.worktree(a.name), "rev-parse", "HEAD")
	was := m.killed(after, "update", a.name)
	said := fmt.Sprintf("killed after step %d: update %s", after, a.name)
	moved := m.git(m.worktree(a.name), "rev-parse", "HEAD") != head
	if has := m.read(m.worktree(a.name)); moved || !has.equal(a.now.has) {
		if len(conflicts) > 0 {
			m.fail("%s: updated, and should have conflicted in %q", said, conflicts)
		}
		a.now = want
		a.now.at(told)
		said += ", done"
	}
	a.undo = nil
	return m.counted(was, said)
}

// counted counts the kills.
func (m *landModel) counted(was bool, said string) string {
	if !was {
		return said + ", which was over before"
	}
	modelKills++
	return said
}

// modelKills are the kills that came in the midst of a command.
var modelKills int

// TestLandingsSurviveKills: paw killed after any step of a landing, an undoing or a rewind, then recover: it took place or it did not, and what
// lands afterwards is what the model says. PAW_MODEL_KILLS says how often, PAW_MODEL_SEED begins elsewhere.
func TestLandingsSurviveKills(t *testing.T) {
	t.Setenv("TMUX_TMPDIR", t.TempDir()) // no agent runs
	seed, kills := uint64(1), 12
	if n, err := strconv.ParseUint(os.Getenv("PAW_MODEL_SEED"), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv("PAW_MODEL_KILLS")); err == nil {
		kills = n
	}
	modelKills = 0
	for i := 0; modelKills < kills; i++ {
		modelWorld(t, seed, seed*1_000_000+500_000+uint64(i), true)
	}
	t.Logf("%d kills", modelKills)
}
