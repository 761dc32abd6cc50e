package orchestrator

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/landing"
)

// modelShorten is for how many seconds a divergence is made shorter.
const modelShorten = 90

// modelWorldSteps is how many steps one world lives.
const modelWorldSteps = 60

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

// planIn reads a plan from words.
func planIn(t *testing.T, words string) (steps []planned) {
	t.Helper()
	for word := range strings.SplitSeq(words, ",") {
		name, number, _ := strings.Cut(word, ":")
		at := slices.IndexFunc(modelSteps, func(s step) bool { return s.name == name })
		seed, err := strconv.ParseUint(number, 10, 64)
		if at < 0 || err != nil {
			t.Fatalf("no step: %q", word)
		}
		steps = append(steps, planned{at, seed})
	}
	return steps
}

// plan is the run of a seed, with a kill in each third step where kills are asked for.
func plan(seed uint64, steps int, kills bool) []planned {
	r := rand.New(rand.NewPCG(seed, 1))
	var deck []int
	for i, s := range modelSteps {
		for range s.weight {
			deck = append(deck, i)
		}
	}
	if kills {
		last := len(modelSteps) - 1
		deck = append(deck, slices.Repeat([]int{last}, len(deck)/2)...)
	}
	all := make([]planned, steps)
	for i := range all {
		all[i] = planned{deck[r.IntN(len(deck))], r.Uint64()}
	}
	return all
}

// run runs a plan in a world of its own, and says how it diverged from the model, "" for not at all.
func run(t *testing.T, steps []planned) (said []string, diverged string) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "paw-model")
	if err != nil {
		dir = t.TempDir()
	}
	defer os.RemoveAll(dir)
	m := newLandModel(t, dir)
	defer func() {
		said = m.said
		if problem := recover(); problem != nil {
			d, mine := problem.(divergence)
			if !mine {
				panic(problem)
			}
			diverged = string(d)
			if os.Getenv("PAW_MODEL_PLAN") != "" {
				said = append(said, m.standings()...)
			}
			if os.Getenv("PAW_MODEL_KEEP") != "" {
				_ = os.RemoveAll("/tmp/model-kept")
				_ = os.CopyFS("/tmp/model-kept", os.DirFS(dir))
			}
		}
	}()
	for _, one := range steps {
		s := modelSteps[one.step]
		m.said = append(m.said, "("+s.name+")")
		what := s.do(m, rand.New(rand.NewPCG(one.seed, 2)))
		if m.said = m.said[:len(m.said)-1]; what != "" {
			m.said = append(m.said, what)
			m.check(what)
		}
	}
	return m.said, ""
}

// standings says how each landing stands, and what became of main.
func (m *landModel) standings() (lines []string) {
	all, err := landing.Standings(m.t.Context(), m.h, m.load())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, one := range all {
		lines = append(lines, fmt.Sprintf("landing %d of %s (%s, turns %q at %d, instead of %v): %s, before %.7s after %.7s state %.7s commit %.7s",
			one.ID, one.Agent, one.As, one.Turns, one.LastTurn, one.Instead, one.Standing, one.Before, one.After, one.State, one.Commit))
	}
	return append(lines, m.git(m.repo, "log", "--graph", "--format=%h %s", "main"), m.git(m.repo, "reflog", "main"))
}

// kindOfDivergence is what a divergence says but for which agent, landing and file it is about.
func kindOfDivergence(said string) string {
	first, _, _ := strings.Cut(said, "\n")
	return divergenceNames.ReplaceAllString(first, "")
}

// divergenceNames are the names in a divergence, with what tells of one form of landing.
var divergenceNames = regexp.MustCompile(` --as \w+| --again|\b(s/)?[abc](@\d+)?\b|\d+|: (f0|f1|own-).*`)

// shortened leaves out what a divergence does not need; what is left diverges in the same way.
func shortened(t *testing.T, steps []planned, same string) []planned {
	until := time.Now().Add(time.Duration(modelShorten) * time.Second)
	for size := len(steps) / 2; size > 0 && time.Now().Before(until); {
		smaller := false
		for at := 0; at+size <= len(steps) && time.Now().Before(until); {
			rest := append(append([]planned{}, steps[:at]...), steps[at+size:]...)
			if _, diverged := run(t, rest); diverged != "" && kindOfDivergence(diverged) == kindOfDivergence(same) {
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

// TestLandingsFollowTheModel: whatever users and agents do, in whichever order, a landing brings what the agent has done and main has not,
// and nothing else. PAW_MODEL_SEED and PAW_MODEL_STEPS choose another run, and a longer one; PAW_MODEL_FROM has
// agents that start from a turn of another one, too; PAW_MODEL_PLAN is one world, as a divergence names it.
func TestLandingsFollowTheModel(t *testing.T) {
	t.Setenv("TMUX_TMPDIR", t.TempDir()) // no agent runs
	if words := os.Getenv("PAW_MODEL_PLAN"); words != "" {
		said, diverged := run(t, planIn(t, words))
		if t.Log("\n" + strings.Join(said, "\n")); diverged != "" {
			t.Error(diverged)
		}
		return
	}
	seed, steps := uint64(1), 240
	if n, err := strconv.ParseUint(os.Getenv("PAW_MODEL_SEED"), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv("PAW_MODEL_STEPS")); err == nil {
		steps = n
	}
	worlds := (steps + modelWorldSteps - 1) / modelWorldSteps
	for i := range worlds {
		world := seed*1_000_000 + uint64(i)
		modelWorld(t, seed, world, false)
	}
}

// modelWorld runs one world.
func modelWorld(t *testing.T, seed, world uint64, kills bool) {
	t.Run(fmt.Sprint(world), func(t *testing.T) {
		all := plan(world, modelWorldSteps, kills)
		said, diverged := run(t, all)
		if diverged == "" {
			if testing.Verbose() {
				t.Log("\n" + strings.Join(said, "\n"))
			}
			return
		}
		short := shortened(t, all, diverged)
		said, again := run(t, short)
		t.Errorf("seed %d, world %d: %s\n\nshortened to:\n%s\n%s\n\nagain: PAW_MODEL_PLAN='%s'", seed, world, diverged, strings.Join(said, "\n"), again, inWords(short))
	})
}
