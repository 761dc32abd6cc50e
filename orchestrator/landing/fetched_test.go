package landing

import (
	"os"
	"testing"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/gitdir"
	"paw/worktree/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.RunIsolated(m)) }

// A parcel has come when each state is where its ref says. A state that could not be taken is not waited for.
func TestFetched(t *testing.T) {
	w := gittest.New(t)
	first, second := w.Commit("one"), w.Commit("two")
	h, err := app.New(w.Dir, []string{"HOME=" + gittest.RealTemp(t), "PATH=" + os.Getenv("PATH")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := gitdir.Discover(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	w.Git("update-ref", turn.HandedRef(session.FarTurnSession("gpu", "shop_one")), first)
	for state, want := range map[string]bool{first: true, second: false} {
		p := Parcel{
			Session: session.Session{Agents: []session.Agent{{Name: "one", TurnSession: "shop_one"}, {Name: "two", TurnSession: "shop_two"}}},
			States:  []parcelState{{Agent: "two", State: second, Error: "no snapshot"}, {Agent: "one", State: state}},
		}
		if got, err := p.Fetched(t.Context(), h.Manager(repository), "gpu"); got != want || err != nil {
			t.Errorf("%s: %t, %v", state, got, err)
		}
	}
}
