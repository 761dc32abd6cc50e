package orchestrator

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/session/turn"
)

func TestUsageOfTurns(t *testing.T) {
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	ends := func(seconds float64) *time.Time { e := at(seconds); return &e }
	turns := []turn.Record{
		{Number: 1, StartedAt: at(10), EndedAt: ends(20)},
		{Number: 2, StartedAt: at(20.5), EndedAt: ends(30)}, // within the grace of the first
		{Number: 4, StartedAt: at(60.0004), EndedAt: ends(80)},
		{Number: 5, Type: turn.TypeStopHook, StartedAt: at(95), EndedAt: ends(96)}, // known only at its end
	}
	use := func(seconds float64, input int64) cli.Use {
		return cli.Use{At: at(seconds), Input: input, Output: 1}
	}
	priced := use(70, 32)
	priced.Cost, priced.Priced = 0.5, true
	got := usageOf(turns, []cli.Use{
		use(-100, 1000), // of the conversation that this one is a copy of
		use(15, 1), use(20.2, 2), use(20.6, 4), use(45, 8), use(60, 16), priced, use(80.5, 64), use(94, 128),
	}, at(0))
	spent := func(input int64, answers int) cli.Spent {
		return cli.Spent{Input: input, Output: int64(answers), Answers: answers}
	}
	last, total := spent(48, 2), spent(255, 8)
	last.Cost, last.Priced, total.Cost, total.Priced = 0.5, true, 0.5, true
	want := AgentUsage{
		Turns:   []TurnUsage{{1, spent(3, 2)}, {2, spent(4, 1)}, {4, last}, {5, spent(192, 2)}},
		Outside: spent(8, 1), Total: total,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
