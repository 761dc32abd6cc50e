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

// TestRecordedFolderThatIsGone: a home that was moved takes the conversations along.
func TestRecordedFolderThatIsGone(t *testing.T) {
	there := t.TempDir()
	gone := there + "/gone"
	for name, c := range map[string][3]string{ // recorded, of the user, wanted
		"gone":                 {gone, there, there},
		"gone, and no other":   {gone, "", gone},
		"gone, and so is this": {gone, gone + "2", gone},
		"there":                {there, gone, there},
		"not set then":         {"", there, ""},
		"no folder":            {"value", there, "value"},
	} {
		h := &app.App{Env: []string{"CODEX_HOME=" + c[1]}}
		if got := h.Specs().Recorded(&session.Agent{Environment: map[string]string{"CODEX_HOME": c[0]}})["CODEX_HOME"]; got != c[2] {
			t.Errorf("%s: %q, want %q", name, got, c[2])
		}
	}
}
