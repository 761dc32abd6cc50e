package orchestrator

import (
	"strings"
	"testing"

	"paw/config"
)

func TestApplyPreset(t *testing.T) {
	presets := map[string]config.Preset{"pair": {CLI: []string{"claude", "codex"}, Base: "main"}}
	o, err := applyPreset(StartOptions{Preset: "pair"}, presets)
	if err != nil || strings.Join(o.CLIs, ",") != "claude,codex" || o.Base != "main" {
		t.Errorf("preset gives %+v, %v", o, err)
	}
	o, err = applyPreset(StartOptions{Preset: "pair", CLIs: []string{"gemini"}, Base: "dev"}, presets)
	if err != nil || strings.Join(o.CLIs, ",") != "gemini" || o.Base != "dev" {
		t.Errorf("options do not win over the preset: %+v, %v", o, err)
	}
	if _, err := applyPreset(StartOptions{Preset: "nosuch"}, presets); err == nil || !strings.Contains(err.Error(), "pair") {
		t.Errorf("unknown preset: %v", err)
	}
}
