package launch

import (
	"slices"
	"testing"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
)

// Where the environment of the parent's CLI cannot be read, a child gets that of
// the command which its parent runs, without what the CLI has put there and with
// a PATH on which the CLI is. (testdata/script/spawn.txtar has the other case.)
func TestAsAgentInASandbox(t *testing.T) {
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one", CLI: "mine", Command: []string{"/opt/clis/mine", "--flag"}}}}
	h := &app.App{
		Paths:  config.Paths{StateDir: t.TempDir()},
		Config: config.Loaded{Config: config.Config{CLIs: map[string]config.CLI{"mine": {Env: map[string]string{"CONFIGURED": "1"}}}}},
		CLIs:   clis.New(nil),
	}
	h.Locks = session.Locks{Dir: h.Paths.LocksDir()}
	holder, err := session.ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := h.Locks.HoldAgent("shop", "one", holder) // whose environment is no agent's
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for _, c := range []struct{ env, want []string }{
		{[]string{"PATH=/login/bin", "CODEX_CI=1", "CLAUDECODE=1", "CONFIGURED=1", "KEY=x", "PAW_HOOK=/paw", "OPENCODE_CONFIG_CONTENT={}", "QWEN_CODE=1"},
			[]string{"KEY=x", "PATH=/login/bin:/opt/clis"}},
		{[]string{"KEY=x"}, []string{"KEY=x", "PATH=/opt/clis"}},
	} {
		h.Env = c.env
		other, err := AsAgent(h.Agent(s, &s.Agents[0]))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(other.Env, c.want) {
			t.Errorf("%q, want %q", other.Env, c.want)
		}
	}
}
