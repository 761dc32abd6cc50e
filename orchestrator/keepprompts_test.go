package orchestrator

import (
	"os"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/startplan"
	"paw/session"
)

// Of two paws that want one name, the one that does not get it must not replace
// the first prompt that the other has kept.
func TestALostNameDoesNotCostThePromptOfItsOwner(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Locks: session.Locks{Dir: t.TempDir()}, Now: time.Now, Step: func(string) {}}
	h.Store = session.Store{Dir: t.TempDir(), LocksDir: h.Locks.Dir}
	one := session.Agent{Name: "one", CLI: "demo", TurnSession: "shop_one"}
	record := func() *session.Session {
		return &session.Session{
			Name: "shop", RepoPath: "/r", GitCommonDir: "/r/.git", CreatedAt: time.Now(), Status: session.StatusActive,
			Agents: []session.Agent{one},
		}
	}
	kept := func() string {
		text, err := os.ReadFile(h.Texts().PromptPath("shop", "one"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := begin(t.Context(), h, &startplan.Addition{Draft: *record()}, "of the owner"); err != nil {
		t.Fatal(err)
	}
	if err := begin(t.Context(), h, &startplan.Addition{Draft: *record()}, "of another start"); err == nil || kept() != "of the owner" {
		t.Errorf("start: error %v, kept %q", err, kept())
	}
	added := &startplan.Addition{Draft: session.Session{Agents: []session.Agent{one}}}
	if _, err := startplan.Record(t.Context(), h, record(), added, "of an add", nil); err == nil || kept() != "of the owner" {
		t.Errorf("add: error %v, kept %q", err, kept())
	}
}
