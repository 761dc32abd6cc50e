package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"paw/config/disk"
)

// TestCodexForkedTo: /cd and /fork take codex to another folder in a fork of the conversation, which a hook reports with the
// first prompt alone. The fork is there before, in the process whose directory is the agent's worktree; a fork that another
// process has open is of another agent.
func TestCodexForkedTo(t *testing.T) {
	l := newLab(t)
	const id, first, fork = "01a226bf-4900-7111-8444-555555555555", "01a226bf-4900-7222-8444-555555555555", "01a226bf-4900-7333-8444-555555555555"
	meta := func(id, more string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-29T10:00:00Z","type":"session_meta","payload":{"id":%q,"source":"cli","thread_source":"user"%s}}`+"\n", id, more)
	}
	l.put(".codex/sessions/2026/11/29/rollout-2026-11-29T10-00-00-"+id+".jsonl", meta(id, ""))
	l.put(".codex/sessions/2026/11/29/rollout-2026-11-29T10-00-01-"+first+".jsonl", meta(first, `,"cwd":"/first","forked_from_id":"`+id+`"`))
	l.put(".codex/sessions/2026/11/29/rollout-2026-11-29T10-00-02-"+fork+".jsonl", meta(fork, `,"cwd":"/elsewhere","forked_from_id":"`+first+`"`))
	lock, err := os.Open(l.put(".codex/thread-writer-locks/"+fork+".lock", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	works := func() string {
		t.Helper()
		s := l.with(id)
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		s.Worktree = here
		seen, err := get(t, "codex").Observe(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return seen.Folder
	}
	if got := works(); got != "" {
		t.Errorf("works in %q by a fork that nobody has open", got)
	}
	if locked, err := disk.TryLock(lock); !locked || err != nil {
		t.Fatal(locked, err)
	}
	if got := works(); got != "/elsewhere" {
		t.Errorf("works in %q, it has a fork open in /elsewhere", got)
	}
	t.Chdir(filepath.Dir(l.home)) // as the process of another agent
	s := l.with(id)
	if seen, err := get(t, "codex").Observe(t.Context(), s, nil); err != nil || seen.Folder != "" {
		t.Errorf("works in %q by the fork of another agent, %v", seen.Folder, err)
	}
}
