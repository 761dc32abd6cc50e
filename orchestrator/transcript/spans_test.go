package transcript

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"paw/session/history"
	"paw/session/turn"
)

// talk makes messages of lines "SECOND ROLE TEXT", "-" for a time that is not known.
func talk(t *testing.T, lines string) []history.Message {
	t.Helper()
	roles := map[string]history.Role{"u": history.RoleUser, "a": history.RoleAssistant, "t": history.RoleTool, "s": history.RoleSystem}
	var messages []history.Message
	for line := range strings.Lines(lines) {
		at, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		role, text, _ := strings.Cut(rest, " ")
		m := history.Message{Role: roles[role], Content: text}
		if m.Role == "" {
			t.Fatalf("no role in %q", line)
		}
		if at != "-" {
			m.Timestamp = second(t, at)
		}
		messages = append(messages, m)
	}
	return messages
}

func second(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(d)
}

// turnsOf makes turns of lines "FROM TO PROMPT", "-" for one that has not ended.
func turnsOf(t *testing.T, lines string) []turn.Record {
	t.Helper()
	var turns []turn.Record
	for line := range strings.Lines(lines) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		r := turn.Record{Number: len(turns) + 1, StartedAt: second(t, fields[0]), Prompt: turn.Prompt(fields[2])}
		if fields[1] != "-" {
			end := second(t, fields[1])
			r.EndedAt = &end
		}
		turns = append(turns, r)
	}
	return turns
}

func TestTurnSpan(t *testing.T) {
	for _, c := range []struct {
		name, messages, turns string
		want                  []string // of each turn, its messages' texts
	}{
		{
			"one after another",
			"1 u one\n2 a to one\n11 u two\n12 a calls\n13 t result\n14 a to two",
			"1 3 one\n11 15 two",
			[]string{"one,to one", "two,calls,result,to two"},
		},
		{
			"the same prompt again and again",
			"1 u go on\n2 a A\n11 u go on\n12 a B\n21 u go on\n22 a C",
			"1 3 go on\n11 13 go on\n21 23 go on",
			[]string{"go on,A", "go on,B", "go on,C"},
		},
		{
			"the CLI dropped one of two equal prompts",
			"1 u one\n2 a A\n15.1 u go on\n16 a B",
			"1 3 one\n10 12 go on\n15 17 go on",
			[]string{"one,A", "", "go on,B"},
		},
		{
			"a copied conversation",
			"1 u go on\n2 a old\n3 u go on\n4 a old\n101 u go on\n102 a new",
			"101 103 go on",
			[]string{"go on,new"},
		},
		{
			"a copied conversation, and the CLI dropped the prompt",
			"1 u go on\n2 a old\n111 u two\n112 a new",
			"101 103 go on\n111 113 two",
			[]string{"", "two,new"},
		},
		{
			"a prompt that joined the turn",
			"1 u one\n2 a calls\n3 u and this\n4 t result\n5 a both\n11 u two",
			"1 6 one\n11 - two",
			[]string{"one,calls,and this,result,both", "two"},
		},
		{
			"what the user did between turns is of none",
			"1 u one\n2 a A\n5 u !ls\n6 s NOTES.md\n7 a B\n11 u two\n12 a C",
			"1 3 one\n11 13 two",
			[]string{"one,A", "two,C"},
		},
		{
			"notices after the end",
			"1 u one\n2 a half\n4 s interrupted",
			"1 3 one",
			[]string{"one,half,interrupted"},
		},
		{
			"written down otherwise",
			"1 u one\n2 a A\n10 u two with a file\n12 a B\n21 u three",
			"1 3 one\n11 13 two\n21 22 three",
			[]string{"one,A", "two with a file,B", "three"},
		},
		{
			"trimmed, and with other spaces",
			"1 u  one\n2 a A\n11 u two  lines ",
			"1 3 one \n11 13 two lines",
			[]string{" one,A", "two  lines"},
		},
		{
			"the CLI prompted itself",
			"1 u one\n2 a A\n11 s <task-notification>\n12 a B",
			"1 3 one\n11 13 <task-notification>",
			[]string{"one,A", "<task-notification>,B"},
		},
		{
			"without times",
			"- u one\n- a A\n- u two\n- a B",
			"1 3 one\n11 13 two",
			[]string{"one,A", "two,B"},
		},
		{
			"times written anew",
			"50 u one\n50 a A\n50 u two\n50 a B\n61 u three",
			"1 3 one\n11 13 two\n61 - three",
			[]string{"one,A", "two,B", "three"},
		},
		{
			"the message is older than its turn",
			"0.5 u one\n2 a A\n10.2 u two",
			"1 3 one\n11 - two",
			[]string{"one,A", "two"},
		},
		{"nothing there", "", "1 3 one", []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			messages, turns := talk(t, c.messages), turnsOf(t, c.turns)
			for n := range turns {
				at := Spans(messages, turns)[n]
				var texts []string
				for _, m := range messages[at.From:at.To] {
					texts = append(texts, m.Content)
				}
				if got := strings.Join(texts, ","); got != c.want[n] {
					t.Errorf("turn %d: %q, want %q", n+1, got, c.want[n])
				}
			}
		})
	}
}

// TestTurnSpansOfMany: a long conversation does not take much memory, even when all prompts are the same,
// also where a prompt of it was never written down, or one was typed that is of no turn.
func TestTurnSpansOfMany(t *testing.T) {
	for name, c := range map[string]struct{ many, lost, mib int }{"one message for each turn": {40000, 0, 64}, "one more": {4000, 1, 16}} {
		t.Run(name, func(t *testing.T) {
			var messages []history.Message
			var turns []turn.Record
			for i := range c.many {
				at := second(t, fmt.Sprint(10*i))
				if i < c.many-c.lost {
					turns = append(turns, turn.Record{Number: i + 1, Prompt: "go on", StartedAt: at})
				}
				messages = append(messages, history.Message{Role: history.RoleUser, Content: "go on", Timestamp: at}, history.Message{Role: history.RoleAssistant})
			}
			turns = append(turns, turn.Record{Number: c.many, Prompt: "dropped", StartedAt: second(t, fmt.Sprint(10*c.many))})
			messages = append(messages, history.Message{Role: history.RoleUser, Content: "/clear"})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			spans := Spans(messages, turns)
			runtime.ReadMemStats(&after)
			for n, got := range spans[:c.many-c.lost-1] {
				if want := (Span{2 * n, 2*n + 2}); got != want {
					t.Fatalf("turn %d: %+v, want %+v", n+1, got, want)
				}
			}
			if used := int(after.TotalAlloc-before.TotalAlloc) >> 20; used > c.mib {
				t.Errorf("it took %d MiB", used)
			}
		})
	}
}
