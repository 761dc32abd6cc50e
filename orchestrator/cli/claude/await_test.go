package claude

import (
	"path/filepath"
	"testing"
	"time"
)

// A transcript that has no line of the turn yet is waited for as long as claude may take.
func TestAwaitGivesTheTranscriptTime(t *testing.T) {
	began := time.Now()
	if await(filepath.Join(t.TempDir(), "none.jsonl"), "an-id"); time.Since(began) < flush {
		t.Errorf("waited for %s only", time.Since(began))
	}
}
