package records

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"paw/orchestrator/cli"
)

// counted counts how often it is decoded.
type counted struct{ Tokens int64 }

var decoded int

func (c *counted) UnmarshalJSON(data []byte) error {
	decoded++
	var line struct{ Tokens int64 }
	err := json.Unmarshal(data, &line)
	c.Tokens = line.Tokens
	return err
}

// TestUsesDecodeOnlyLinesWithTokens: of a long conversation most lines are results of tools.
func TestUsesDecodeOnlyLinesWithTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.jsonl")
	text := `{"text":"tokens"}` + "\n" + `{"tokens":3}` + "\n" + `{"result":"long"}` + "\n" + `{"tokens":4`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	decoded = 0
	uses, err := UsesIn([]string{file}, "tokens", func(c counted) (string, cli.Use) { return "", cli.Use{Output: c.Tokens} })
	if err != nil || len(uses) != 1 || uses[0].Output != 3 {
		t.Errorf("%v, %v", uses, err)
	}
	if decoded != 2 { // a value may be the key's word, and a torn line is no object
		t.Errorf("%d lines were decoded", decoded)
	}
}
