package app_test

import (
	"slices"
	"testing"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
)

// TestSpecsAreConfigured: what the user has configured for a CLI counts wherever its driver is asked, of an agent or of a draft.
func TestSpecsAreConfigured(t *testing.T) {
	h := &app.App{CLIs: clis.New(map[string]config.CLI{"codex": {Args: []string{"-m", "x"}, Env: map[string]string{"CODEX_HOME": "/mine"}}}), Env: []string{"A=1"}}
	codex, _ := h.CLIs.Get("codex")
	read := h.Specs().Read(&session.Session{}, &session.Agent{CLI: "codex", Environment: map[string]string{"CODEX_HOME": ""}}, "")
	for name, spec := range map[string][][]string{
		"agent": {read.Args, read.Env}, "draft": {h.Specs().Draft(codex, "", "").Args, h.Specs().Draft(codex, "", "").Env},
	} {
		if args, env := spec[0], spec[1]; !slices.Equal(args, []string{"-m", "x"}) || env[len(env)-1] != "CODEX_HOME=/mine" || env[0] != "A=1" {
			t.Errorf("%s: %q %q", name, args, env)
		}
	}
}
