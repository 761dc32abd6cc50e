package acp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"paw/orchestrator/cli"
)

func TestImpossibleNumbersOfTokensAreIgnored(t *testing.T) {
	s := cli.Spec{StateDir: t.TempDir(), ConversationID: "one"}
	if err := os.MkdirAll(filepath.Join(s.StateDir, kind), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := `{"role":"user","content":"x"}` + "\n"
	for _, told := range []string{
		`{"totalTokens":16,"outputTokens":2,"cachedReadTokens":4}`,
		`{"totalTokens":9223372036854775807,"outputTokens":2}`,
		`{"totalTokens":16,"outputTokens":9223372036854775807}`,
		`{"totalTokens":16,"outputTokens":-9223372036854775808}`,
	} {
		lines += fmt.Sprintf(`{"type":"usage","content":%q}`+"\n", told)
	}
	if err := os.WriteFile(filepath.Join(s.StateDir, kind, "one.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	uses, err := Driver("standin", []string{"standin"}).Uses(t.Context(), s)
	if err != nil || len(uses) != 1 || uses[0].Input != 10 || uses[0].Output != 2 || uses[0].CacheRead != 4 {
		t.Errorf("%+v %v", uses, err)
	}
}
