package turn

import (
	"strings"
	"testing"
	"time"
)

func TestTagNames(t *testing.T) {
	for want, got := range map[string]string{
		"afk-experiment-0":                       TagName("experiment", 0),
		"afk-experiment-2":                       TagName("experiment", 2),
		"refs/tags/afk-demo_claude-10":           TagRef("demo_claude", 10),
		"refs/paw/demo_claude/":                  RefPrefix("demo_claude"),
		"refs/paw/demo_claude/claim/":            ClaimPrefix("demo_claude"),
		"refs/paw/demo_claude/before/1000":       BeforeRef("demo_claude", 1000),
		"refs/paw/demo_claude/turn/3":            TurnRef("demo_claude", 3),
		"refs/paw/d/start/abc":                   StartRef("d", "abc"),
		"refs/paw/d/rescue/20261121T030009.005Z": RescueRef("d", second(9).In(time.FixedZone("CET", 3600))),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParseTag(t *testing.T) {
	long := strings.Repeat("a", 64)
	good := map[string]struct {
		of string
		n  int
	}{
		"afk-s-0":              {"s", 0},
		"afk-s-1":              {"s", 1},
		"afk-s-9":              {"s", 9},
		"afk-s-10":             {"s", 10},
		"afk-s_1-2":            {"s_1", 2},
		"afk-s_-2":             {"s_", 2},
		"afk-7-7":              {"7", 7},
		"afk-afk-1":            {"afk", 1},
		"afk-Demo_CLAUDE_2-33": {"Demo_CLAUDE_2", 33},
		"afk-" + long + "-5":   {long, 5},
	}
	for name, want := range good {
		of, n, ok := ParseTag(name)
		if !ok || of != want.of || n != want.n || TagName(of, n) != name {
			t.Errorf("%s: %q, %d, %v", name, of, n, ok)
		}
	}
	for _, name := range []string{
		"", "afk", "afk-", "afk-s", "afk-s-", "afk--1", "afk-1", "afk-s-1-2", "afk-s-1-", "afk-s--1", "afk-s-01", "afk-s-00",
		"afk-s-+1", "afk-s- 1", "afk-s-1 ", " afk-s-1", "afk-s-1\n", "\nafk-s-1", "afk-s-1\nafk-s-2", "xafk-s-1", "AFK-s-1",
		"afk-s-1x", "afk-s-1/x", "x/afk-s-1", "refs/tags/afk-s-1", "afk-s.1-1", "afk-s:1-1", "afk-my session-1", "afk-é-1",
		"afk-s-١", "afk-s-1e3", "afk-s-0x1", "afk-s-99999999999999999999", "afk-s-1^{}", "afk_s-1", "paw-s-1",
		"afk-" + long + "a-5",
	} {
		if of, n, ok := ParseTag(name); ok {
			t.Errorf("%q: %q, %d", name, of, n)
		}
	}
}

func TestErrorsReadWell(t *testing.T) {
	for want, err := range map[string]error{
		"turn 3: END is not possible, the turn is aborted":      &TransitionError{Number: 3, From: Aborted, Event: "END"},
		"turn 3: NOTE is not possible, the turn is not started": &TransitionError{Number: 3, From: Initial, Event: "NOTE"},
		"turn 3: already has a log, /x/turn-003-prompt.log":     &ExistsError{Number: 3, Path: "/x/turn-003-prompt.log"},
		"turn 0: numbers begin at 1":                            &NumberError{},
		"interrupted":                                           &Abort{Reason: ReasonInterrupted},
		"error: rate_limit: slow down":                          &Abort{ErrorType: "rate_limit", Message: "slow down"},
		"crash: the machine was restarted":                      &Abort{Reason: ReasonCrash, Message: "the machine was restarted"},
		`turn type "A b": only lower-case letters, digits, '_', '.' and '-' are allowed, a letter first, at most 64`: &TypeError{Type: "A b"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if Type(strings.Repeat("a", 64)).Validate() != nil || Type(strings.Repeat("a", 65)).Validate() == nil {
		t.Error("the length of a type is not bounded at 64")
	}
}
