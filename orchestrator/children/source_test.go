package children

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/transcript"
	"paw/session"
	"paw/session/history"
)

// A live session is what is on disk now, and its conversation what the CLI has of it now.
func TestLiveSessionsComeFromDisk(t *testing.T) {
	f := newFamily(t, "c")
	state := t.TempDir()
	const id = "01a1feb4-3245-73c4-926d-d6b0b0857334"
	_, err := f.p.Update(t.Context(), familySession, func(rec *session.Session) error {
		w := rec.Agent("c")
		w.ConversationIDs, w.Environment = []string{id}, map[string]string{"XDG_STATE_HOME": state}
		return nil
	})
	f.must(err)
	conversation := filepath.Join(state, "paw", "demo", id+".jsonl")
	f.must(os.MkdirAll(filepath.Dir(conversation), 0o700))
	say := func(line string) {
		t.Helper()
		file, err := os.OpenFile(conversation, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		f.must(err)
		defer file.Close()
		_, err = file.WriteString(line + "\n")
		f.must(err)
	}
	s := f.record()
	branch := func(name string) live.Branch { return branchOf(s, s.Agent(name)) }
	registry := live.NewRegistry(looksAt(f.p, familySession, f.panes, observe.NotAtScreens))
	f.must(registry.EnsureLoaded(t.Context(), branch("c")))
	child, _ := registry.Get(branch("c"))
	if all := registry.Branches(); !slices.Equal(all, []live.Branch{branch(parentName), branch("c")}) {
		t.Errorf("branches %v", all)
	}
	if child.Parent.Parent != branch(parentName) || child.State().State != session.StateRunning {
		t.Errorf("child of %v, %s", child.Parent.Parent, child.State().State)
	}
	messages := func() []history.Message {
		t.Helper()
		s := f.record()
		h, _, err := transcript.History(t.Context(), f.p.Agent(s, s.Agent("c")), nil)
		f.must(err)
		return h.Messages()
	}
	say(`{"type":"message","role":"user","content":"hello"}`)
	if got := messages(); len(got) != 1 || got[0].Content != "hello" || got[0].Role != history.RoleUser {
		t.Errorf("messages %+v", got)
	}
	say(`{"type":"message","role":"assistant","content":"hi"}`)
	f.end("c", "")
	if got := messages(); len(got) != 2 || got[1].Role != history.RoleAssistant {
		t.Errorf("later: messages %+v", got)
	}
	f.must(registry.Refresh(t.Context()))
	if child, _ = registry.Get(branch("c")); child.State().State != session.StateIdle {
		t.Errorf("after its turn it is %s", child.State().State)
	}
	if err := registry.EnsureLoaded(t.Context(), live.Branch{Repository: s.GitCommonDir, Name: "main"}); !errors.Is(err, live.ErrNoAgent) {
		t.Errorf("a branch without an agent: %v", err)
	}
	if err := live.NewRegistry(looksAt(f.p, "other", f.panes, observe.NotAtScreens)).EnsureLoaded(t.Context(), branch("c")); kindOf(err) != errs.NotFound {
		t.Errorf("a session that is not there: %v", err)
	}
}
