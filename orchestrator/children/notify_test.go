package children

import (
	"errors"
	"slices"
	"testing"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
)

// notified is what the parent waits for after it has asked to.
func notified(t *testing.T, f *family, o WaitOptions) (*Notified, error) {
	t.Helper()
	s := f.record()
	return notify(t.Context(), f.p.Agent(s, s.Agent(parentName)), o, f.panes)
}

func TestNotifyTakesThoseAtWorkAndThoseNotToldOf(t *testing.T) {
	f := newFamily(t, "a", "b", "c", "d")
	f.end("a", "")
	f.end("b", turn.ReasonError)
	f.end("d", "")
	_, err := f.p.Update(t.Context(), familySession, func(rec *session.Session) error {
		rec.Agent("d").Told = 1
		return nil
	})
	f.must(err)
	got, err := notified(t, f, WaitOptions{Any: true})
	f.must(err)
	if !slices.Equal(got.Children, []string{"a", "b", "c"}) || !slices.Equal(got.Ended, []string{"a", "b"}) || !got.Any {
		t.Errorf("waits for %v, of which %v have ended", got.Children, got.Ended)
	}
	w := f.record().Agent(parentName).Wait
	if w == nil || !slices.Equal(w.Children, got.Children) || !w.Any || w.TypedAt != nil || w.Since.IsZero() || len(w.ID) != 36 {
		t.Errorf("recorded %+v", w)
	}
	if len(f.queue) != 0 {
		t.Error("a parent in a turn is told at its end, and somebody was started before")
	}
	again, err := notified(t, f, WaitOptions{Agents: []string{"c", "d", "c"}})
	f.must(err)
	if later := f.record().Agent(parentName).Wait; later.ID == w.ID || !slices.Equal(later.Children, []string{"c", "d"}) || len(again.Ended) != 0 {
		t.Errorf("it waits for %+v, instead of what it waited for before", later)
	}
	if _, err := notified(t, f, WaitOptions{Agents: []string{parentName}}); kindOf(err) != errs.Usage {
		t.Errorf("waits for itself: %v", err)
	}
	if _, err := notified(t, f, WaitOptions{Agents: []string{"a", "ghost"}}); kindOf(err) != errs.NotFound {
		t.Errorf("waits for nobody: %v", err)
	}
}

func kindOf(err error) errs.Kind {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Kind
	}
	return 0
}

// A parent between two turns has no end of a turn to come that would claim what it is owed.
func TestNotifyBetweenTurnsLooksItself(t *testing.T) {
	f := newFamily(t, "a")
	f.end("a", "")
	f.end(parentName, "")
	f.drain()
	_, err := notified(t, f, WaitOptions{})
	f.must(err)
	f.drain()
	if f.prompts != 1 {
		t.Errorf("told in %d prompts", f.prompts)
	}
}

// What was typed for an earlier wait counts as told, whether or not it arrived.
func TestNotifyAfterAPromptThatWasTyped(t *testing.T) {
	f := newFamily(t, "a", "b")
	f.end("a", "")
	f.kill = "deliver.recorded"
	_, err := notified(t, f, WaitOptions{Agents: []string{"a"}})
	f.must(err)
	f.end(parentName, "")
	f.drain()
	if w := f.record().Agent(parentName).Wait; w == nil || w.TypedAt == nil {
		t.Fatalf("nothing was about to be typed: %+v", w)
	}
	got, err := notified(t, f, WaitOptions{})
	f.must(err)
	if !slices.Equal(got.Children, []string{"b"}) {
		t.Errorf("waits for %v: of a it was told", got.Children)
	}
	if told := f.record().Agent("a").Told; told != 1 {
		t.Errorf("told of turn %d of a", told)
	}
	f.end("b", "")
	if _, err := notified(t, f, WaitOptions{Agents: []string{"b"}}); err != nil {
		t.Error(err)
	}
	f.drain()
	if _, err := notified(t, f, WaitOptions{}); err == nil || err.Error() != "p: no child is at work" {
		t.Errorf("got %v", err)
	}
}
