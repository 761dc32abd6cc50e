package history_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"paw/session/history"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func said(text string) history.Message {
	return history.Message{Role: history.RoleUser, Content: text, Timestamp: noon}
}

func TestNew(t *testing.T) {
	h := history.New()
	id, err := uuid.Parse(h.ID())
	if err != nil || id.Version() != 7 {
		t.Errorf("id %q: version %d, %v, want a UUIDv7", h.ID(), id.Version(), err)
	}
	if got := h.Messages(); got == nil || len(got) != 0 {
		t.Errorf("a new history has %#v, want an empty list", got)
	}
}

func TestIDUnique(t *testing.T) {
	if a, b := history.New().ID(), history.New().ID(); a == b {
		t.Errorf("two histories have the id %s", a)
	}
}

func TestIDStable(t *testing.T) {
	h := history.New()
	id := h.ID()
	h.AddMessage(said("hello"))
	h.Clear()
	if got := h.ID(); got != id {
		t.Errorf("id was %s and is %s", id, got)
	}
}

func TestAddMessageAndMessages(t *testing.T) {
	want := history.Message{
		Role: history.RoleAssistant, Content: "let me look", ToolCallID: "call-0",
		ToolCalls: []history.ToolCall{{ID: "call-1", Name: "Bash", Arguments: `{"command":"ls"}`}}, Timestamp: noon,
	}
	h := history.New()
	h.AddMessage(want)
	if diff := cmp.Diff([]history.Message{want}, h.Messages()); diff != "" {
		t.Errorf("-added +got\n%s", diff)
	}
}

// TestMessagesOrder: the order is that of the calls, whatever the timestamps say, and these stay as they were given.
func TestMessagesOrder(t *testing.T) {
	h := history.New()
	var want []history.Message
	for i := range 10 {
		m := said(fmt.Sprint(i))
		m.Timestamp = noon.Add(-time.Duration(i) * time.Minute)
		want = append(want, m)
		h.AddMessage(m)
	}
	if diff := cmp.Diff(want, h.Messages()); diff != "" {
		t.Errorf("-added +got\n%s", diff)
	}
}

func TestMessagesRoles(t *testing.T) {
	for role, word := range map[history.Role]string{
		history.RoleSystem: "system", history.RoleUser: "user", history.RoleAssistant: "assistant", history.RoleTool: "tool",
	} {
		t.Run(word, func(t *testing.T) {
			h := history.New()
			h.AddMessage(history.Message{Role: role, Content: "x"})
			if got := h.Messages()[0].Role; got != role || got.String() != word {
				t.Errorf("role %q (%q), want %q", got, got.String(), word)
			}
		})
	}
}

func TestMessagesToolCalls(t *testing.T) {
	h := history.New()
	calls := []history.ToolCall{{ID: "a", Name: "Read", Arguments: "{}"}, {ID: "b", Name: "Bash", Arguments: "ls"}}
	h.AddMessage(history.Message{Role: history.RoleAssistant, ToolCalls: calls})
	h.AddMessage(history.Message{Role: history.RoleTool, ToolCallID: "a", Content: "text"})
	got := h.Messages()
	if diff := cmp.Diff(calls, got[0].ToolCalls); diff != "" {
		t.Errorf("tool calls: -added +got\n%s", diff)
	}
	if got[1].ToolCallID != "a" || got[1].ToolCalls != nil {
		t.Errorf("result %+v", got[1])
	}
}

func TestMessagesDefensiveCopy(t *testing.T) {
	h := history.New()
	h.AddMessage(said("kept"))
	h.AddMessage(said("kept, too"))
	got := h.Messages()
	got[0].Content = "changed"
	got = append(got[:1], said("slipped in"))
	_ = got
	if diff := cmp.Diff([]history.Message{said("kept"), said("kept, too")}, h.Messages()); diff != "" {
		t.Errorf("-added +got\n%s", diff)
	}
}

func TestMessagesToolCallsDefensiveCopy(t *testing.T) {
	calls := []history.ToolCall{{ID: "a", Name: "Read"}, {ID: "b", Name: "Bash"}}
	want := append([]history.ToolCall{}, calls...)
	h := history.New()
	h.AddMessage(history.Message{Role: history.RoleAssistant, ToolCalls: calls})
	calls[0].Name = "changed by who added it"
	h.Messages()[0].ToolCalls[1].Name = "changed by who read it"
	if diff := cmp.Diff(want, h.Messages()[0].ToolCalls); diff != "" {
		t.Errorf("-added +got\n%s", diff)
	}
}

func TestClear(t *testing.T) {
	h := history.New()
	h.AddMessage(said("forgotten"))
	before := h.Messages()
	h.Clear()
	if got := h.Messages(); len(got) != 0 {
		t.Errorf("after Clear there is %+v", got)
	}
	if len(before) != 1 || before[0].Content != "forgotten" {
		t.Errorf("Clear changed what was read before: %+v", before)
	}
}

func TestClearThenAdd(t *testing.T) {
	h := history.New()
	h.AddMessage(said("old"))
	h.Clear()
	h.AddMessage(said("new"))
	if diff := cmp.Diff([]history.Message{said("new")}, h.Messages()); diff != "" {
		t.Errorf("-added +got\n%s", diff)
	}
}

const goroutines = 100

// together runs f in many goroutines that all begin at once.
func together(f func(i int)) {
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range goroutines {
		group.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	group.Wait()
}

func TestConcurrentAddMessage(t *testing.T) {
	h := history.New()
	together(func(i int) { h.AddMessage(said(fmt.Sprint(i))) })
	seen := map[string]int{}
	for _, m := range h.Messages() {
		seen[m.Content]++
	}
	for i := range goroutines {
		if seen[fmt.Sprint(i)] != 1 {
			t.Errorf("message %d is there %d times", i, seen[fmt.Sprint(i)])
		}
	}
	if len(seen) != goroutines {
		t.Errorf("%d different messages, want %d", len(seen), goroutines)
	}
}

// TestConcurrentAddAndRead: what a reader sees only grows, whatever it does to its copy.
func TestConcurrentAddAndRead(t *testing.T) {
	h := history.New()
	together(func(i int) {
		calls := []history.ToolCall{{ID: fmt.Sprint(i), Name: "Bash"}}
		h.AddMessage(history.Message{Role: history.RoleAssistant, ToolCalls: calls})
		calls[0].Name = "changed"
		first := h.Messages()
		for _, m := range first {
			m.ToolCalls[0].Name = "changed"
		}
		if again := h.Messages(); len(again) < len(first) || len(first) == 0 {
			t.Errorf("%d messages, then %d", len(first), len(again))
		}
	})
	for _, m := range h.Messages() {
		if m.ToolCalls[0].Name != "Bash" {
			t.Errorf("a caller changed the history: %+v", m)
		}
	}
}

// TestConcurrentAddAndClear: each message is there once or not at all, and none from before the last Clear.
func TestConcurrentAddAndClear(t *testing.T) {
	h := history.New()
	together(func(i int) {
		if i%10 == 0 {
			h.Clear()
			return
		}
		h.AddMessage(said(fmt.Sprint(i)))
	})
	seen := map[string]bool{}
	for _, m := range h.Messages() {
		if seen[m.Content] {
			t.Errorf("message %s is there twice", m.Content)
		}
		seen[m.Content] = true
	}
	h.Clear()
	if got := h.Messages(); len(got) != 0 {
		t.Errorf("after the last Clear there is %+v", got)
	}
}
