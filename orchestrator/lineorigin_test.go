package orchestrator

import (
	"testing"

	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree/states"
)

// TestOwnersOfTwins finds agents by what a twin of their machine calls them.
func TestOwnersOfTwins(t *testing.T) {
	here := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "api", CLI: "demo", TurnSession: "shop_api"}}}
	far := &session.Session{Name: "gpu:shop", Host: "gpu", Agents: []session.Agent{{Name: "api", CLI: "far", TurnSession: "@gpu/shop_api"}}}
	for _, test := range []struct {
		in          *session.Session
		turnSession string
		want        session.Agent
		is          bool
	}{
		{here, "shop_api", here.Agents[0], true},
		{here, "shop_gone", session.Agent{Name: "gone", TurnSession: "shop_gone"}, true},
		{here, "other_api", session.Agent{}, false},
		{far, "shop_api", far.Agents[0], true},
		{far, "shop_gone", session.Agent{Name: "gone", TurnSession: "@gpu/shop_gone"}, true},
	} {
		w, is := agentOf(test.in, test.turnSession)
		if is != test.is || is && (w.Name != test.want.Name || w.CLI != test.want.CLI || w.TurnSession != test.want.TurnSession) {
			t.Errorf("%s in %s: %+v, %v", test.turnSession, test.in.Name, w, is)
		}
	}
}

func TestMomentsAreRead(t *testing.T) {
	for name, want := range map[string]turns.Moment{
		"shop_api before turn 3":          {TurnSession: "shop_api", Between: true, First: 3, Turn: 3},
		"shop_api before turn 3, updated": {TurnSession: "shop_api", Between: true, First: 3, Turn: 3},
		"shop_api in turn 12":             {TurnSession: "shop_api", First: 12, Turn: 12},
		"shop_api after turn 3, got":      {TurnSession: "shop_api", First: 3, Turn: 3},
		"shop_api in turns 1-3":           {TurnSession: "shop_api", First: 1, Turn: 3},
	} {
		if got, ok := turns.MomentOf(states.Subject + name); !ok || got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got, ok := turns.MomentOf("paw: api after turn 3"); ok {
		t.Errorf("a snapshot is taken for a twin: %+v", got)
	}
}
