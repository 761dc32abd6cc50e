package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/worktree/gitdir"
)

// modelWorldSteps is how many steps one world lives.
const modelWorldSteps = 50

// planned is a step of a run: which one, and the seed of what it decides.
type planned struct {
	step int
	seed uint64
}

// inWords is a plan as PAW_MODEL_PLAN takes it.
func inWords(steps []planned) string {
	var words []string
	for _, one := range steps {
		words = append(words, fmt.Sprintf("%s:%d", modelSteps[one.step].name, one.seed))
	}
	return strings.Join(words, ",")
}

func stepNamed(name string) int {
	return slices.IndexFunc(modelSteps, func(s step) bool { return s.name == name })
}

// planIn reads a plan from words.
func planIn(t *testing.T, words string) (steps []planned) {
	t.Helper()
	for word := range strings.SplitSeq(words, ",") {
		name, number, _ := strings.Cut(word, ":")
		seed, err := strconv.ParseUint(number, 10, 64)
		if stepNamed(name) < 0 || err != nil {
			t.Fatalf("no step: %q", word)
		}
		steps = append(steps, planned{stepNamed(name), seed})
	}
	return steps
}

// plan is the run of a seed, with a kill in each third step where kills are asked for.
func plan(seed uint64, kills bool) []planned {
	r := rand.New(rand.NewPCG(seed, 1))
	var deck []int
	for i, s := range modelSteps {
		deck = append(deck, slices.Repeat([]int{i}, s.weight)...)
	}
	if kills {
		deck = append(deck, slices.Repeat([]int{stepNamed("killed")}, len(deck)/2)...)
	}
	all := make([]planned, modelWorldSteps)
	for i := range all {
		all[i] = planned{deck[r.IntN(len(deck))], r.Uint64()}
	}
	if r.IntN(5) == 0 {
		all[0] = planned{stepNamed("alike"), 0}
	}
	return all
}

// run runs a plan in a world of its own, and says which sentence did not hold, nil where all did.
func run(t *testing.T, steps []planned) (said []string, broken *divergence) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "paw-model")
	if err != nil {
		dir = t.TempDir()
	}
	defer os.RemoveAll(dir)
	modelClock(0) // a world is the same each time, and no commit is older than its parent
	m := newLandModel(t, dir)
	defer func() {
		said = m.said
		if problem := recover(); problem != nil {
			d, mine := problem.(divergence)
			if !mine {
				panic(problem)
			}
			broken = &d
			if os.Getenv("PAW_MODEL_PLAN") != "" {
				said = append(said, m.git(m.repo, "log", "--graph", "--all", "--format=%h %s%d"), m.git(m.repo, "reflog", "main"))
			}
			if os.Getenv("PAW_MODEL_KEEP") != "" {
				_ = os.RemoveAll("/tmp/model-kept")
				_ = os.CopyFS("/tmp/model-kept", os.DirFS(dir))
			}
		}
	}()
	for i, one := range steps {
		s := modelSteps[one.step]
		modelClock(1 + i) // no two steps make the same commit
		m.said = append(m.said, "("+s.name+")")
		what := s.do(m, rand.New(rand.NewPCG(one.seed, 2)))
		if m.said = m.said[:len(m.said)-1]; what != "" {
			m.said = append(m.said, fmt.Sprintf("%s  [%.7s]", what, m.tip()))
			m.unchanged(what)
		}
	}
	m.ended()
	return m.said, nil
}

// modelClock is the time of the commits of a step.
func modelClock(step int) {
	for _, name := range []string{"GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"} {
		_ = os.Setenv(name, fmt.Sprintf("@%d +0000", 1_700_000_000+step))
	}
}

// shortened leaves out what breaking the sentence does not need.
func shortened(t *testing.T, steps []planned, same *divergence, within time.Duration) []planned {
	until := time.Now().Add(within)
	for size := len(steps) / 2; size > 0 && time.Now().Before(until); {
		smaller := false
		for at := 0; at+size <= len(steps) && time.Now().Before(until); {
			rest := append(append([]planned{}, steps[:at]...), steps[at+size:]...)
			if _, broken := run(t, rest); broken != nil && broken.kind == same.kind {
				steps, smaller = rest, true
			} else {
				at += size
			}
		}
		if !smaller || size > len(steps) {
			size /= 2
		}
	}
	return steps
}

// modelNumber is a setting of a run.
func modelNumber(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// modelSeeds are the seeds of a run: the one that PAW_MODEL_SEED says, else three that are always the same, and in a longer run (make fuzz)
// a new one.
func modelSeeds(t *testing.T) []int {
	t.Setenv("TMUX_TMPDIR", t.TempDir()) // no agent runs
	t.Setenv("GIT_COMMITTER_DATE", "")
	t.Setenv("GIT_AUTHOR_DATE", "")
	if one := modelNumber("PAW_MODEL_SEED", 0); one > 0 {
		return []int{one}
	}
	if os.Getenv("PAW_MODEL_STEPS") == "" {
		return []int{1, 2, 3}
	}
	fresh := int(time.Now().UnixNano()/1000) % 1_000_000
	t.Logf("the new seed is PAW_MODEL_SEED=%d", fresh)
	return []int{1, 2, 3, fresh}
}

// TestLandingsFollowTheModel: whatever users and agents do, in whichever order, a landing brings what the agent has done and main has not,
// and nothing else. PAW_MODEL_SEED and PAW_MODEL_STEPS choose another run, and a longer one; PAW_MODEL_PLAN is one world, as a failure names
// it; PAW_MODEL_SHORTEN is for how many seconds a failing world is made shorter.
func TestLandingsFollowTheModel(t *testing.T) {
	seeds := modelSeeds(t)
	if words := os.Getenv("PAW_MODEL_PLAN"); words != "" {
		said, broken := run(t, planIn(t, words))
		if t.Log("\n" + strings.Join(said, "\n")); broken != nil {
			t.Errorf("%s: %s", broken.kind, broken.text)
		}
		return
	}
	worlds := modelNumber("PAW_MODEL_STEPS", 200) / modelWorldSteps
	for i := range max(worlds, len(seeds)) {
		seed := seeds[i%len(seeds)]
		modelWorld(t, seed*1_000_000+i/len(seeds), false)
	}
}

// modelWorld runs one world.
func modelWorld(t *testing.T, world int, kills bool) {
	t.Run(strconv.Itoa(world), func(t *testing.T) {
		all := plan(uint64(world), kills)
		said, broken := run(t, all)
		if broken == nil {
			if testing.Verbose() {
				t.Log("\n" + strings.Join(said, "\n"))
			}
			return
		}
		short := shortened(t, all, broken, time.Duration(modelNumber("PAW_MODEL_SHORTEN", 90))*time.Second)
		said, again := run(t, short)
		if again == nil {
			again = broken
		}
		t.Errorf("world %d: %s: %s\n\nshortened to:\n%s\n%s: %s\n\nagain: PAW_MODEL_PLAN='%s'",
			world, broken.kind, broken.text, strings.Join(said, "\n"), again.kind, again.text, inWords(short))
	})
}

// modelKills are the kills that came in the midst of a command.
var modelKills int

// TestLandingsSurviveKills: paw killed after any step of a landing, an undoing, an update or a rewind, then recover: it took place or it did
// not, and the sentences hold. PAW_MODEL_KILLS says how often.
func TestLandingsSurviveKills(t *testing.T) {
	seed, kills := modelSeeds(t)[0], modelNumber("PAW_MODEL_KILLS", 12)
	modelKills = 0
	for i := 0; modelKills < kills; i++ {
		modelWorld(t, seed*1_000_000+500_000+i, true)
	}
	t.Logf("%d kills", modelKills)
}

// TestKilledModelCommand is a command of the model in a process of its own, which kills itself after a step of it.
func TestKilledModelCommand(t *testing.T) {
	command := strings.Fields(os.Getenv("PAW_MODEL_COMMAND"))
	if len(command) == 0 {
		t.Skip("is run by TestLandingsSurviveKills")
	}
	h := modelHome(os.Getenv("PAW_MODEL_DIR"))
	left := modelNumber("PAW_MODEL_KILL", 0)
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
		_, err = landing.Land(ctx, h, s, command[1], landing.Options{As: landing.As(command[2]), NoCheck: true, Turn: strings.Join(command[3:], "")})
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

// killed runs a command that is killed after some steps and then recovers.
func (m *landModel) killed(after int, command ...string) (said string) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledModelCommand$")
	cmd.Dir = m.repo
	cmd.Env = append(os.Environ(), "PAW_MODEL_COMMAND="+strings.Join(command, " "), "PAW_MODEL_DIR="+filepath.Dir(m.repo), "PAW_MODEL_KILL="+itoa(after))
	out, err := cmd.CombinedOutput()
	status, ended := cmd.ProcessState.Sys().(syscall.WaitStatus)
	was := ended && status.Signaled()
	if err != nil && !was {
		m.t.Fatalf("%v: %s", command, out)
	}
	if said = fmt.Sprintf("killed after step %d: %s", after, strings.Join(command, " ")); was {
		modelKills++
	}
	if _, err := landing.Finish(m.t.Context(), m.h, m.load(), func(gitdir.Checkout) error { return nil }); err != nil {
		m.fail("recover", "%s: %v", said, err)
	}
	for _, l := range m.load().Landings {
		if landing.Unfinished(l) {
			m.fail("recover", "%s: landing %d is still %s", said, l.ID, l.Phase)
		}
	}
	m.clean(said)
	return said
}

// stepKilled kills a command in its midst: after recover it was done or it was not, and the model learns which.
func (m *landModel) stepKilled(r *rand.Rand) string {
	a, after := m.some(r), 1+r.IntN(9)
	switch r.IntN(6) {
	case 0, 1:
		return m.landKilled(a, 0, landing.Forms[max(r.IntN(5)-2, 0)], after)
	case 2:
		return m.landKilled(a, r.IntN(len(a.turns)), landing.Forms[max(r.IntN(5)-2, 0)], after)
	case 3:
		tip := m.tip()
		said := m.killed(after, "undo")
		if _, known := m.pasts[m.tip()]; !known {
			m.fail("undo", "%s: main was at %s, is at %s", said, tip, m.tip())
		}
		return said
	}
	a.take()
	a.undo = nil // which of two it goes back to is not looked at here
	before, from, tip := a.now.files, m.headPast(a), m.tip()
	if r.IntN(2) == 0 {
		said := m.killed(after, "update", a.name)
		if now := m.readFiles(m.worktree(a.name)); !maps.Equal(now, before) {
			m.updated(said, a, before, now)
			a.now.files, a.taken.files = now, now
		}
		if m.headPast(a).writes == nil {
			m.committed(a, from, m.pasts[tip])
		}
		a.now.got = append(a.now.got, tip)
		return said
	}
	number := r.IntN(len(a.turns))
	said := m.killed(after, "rewind", a.name, itoa(number))
	goal := a.turns[number]
	if now := m.readFiles(m.worktree(a.name)); maps.Equal(now, goal.files) {
		a.rewound(goal)
	}
	return said
}

// landKilled lands the end of a turn, or the present state if number is 0, and kills paw after a step.
func (m *landModel) landKilled(a *modelAgent, number int, as landing.As, after int) string {
	a.take()
	before, tip, s := m.readFiles(m.repo), m.tip(), a.now
	command := []string{"land", a.name, string(as)}
	if number > 0 {
		s, command = a.turns[number], append(command, itoa(number))
	}
	said := m.killed(after, command...)
	if m.tip() == tip {
		m.pasts[tip] = m.past().with(s, perhaps)
		return said
	}
	m.learn(said, s, as, before, tip, false)
	return said
}
