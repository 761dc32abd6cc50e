package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

const claudeID = "051cb337-3bbd-4023-a2c8-51d21e2faa33"

func (l lab) claudeFile(dir, id string) string {
	return filepath.Join(".claude", "projects", dash(dir), id+".jsonl")
}

func TestClaudeConversation(t *testing.T) {
	l := newLab(t)
	used := l.sample("claude.jsonl", "/home/dev/run/repos/a1-wt2", l.worktree)
	unused := strings.Join(strings.SplitAfterN(used, "\n", 3)[:2], "")
	for _, c := range []struct {
		name, dir, content string
		want               cli.Conversation
	}{
		{"used", l.worktree, used, cli.Conversation{Found: true, Resumable: true}},
		{"torn last line", l.worktree, used + `{"type":"user","mess`, cli.Conversation{Found: true, Resumable: true}},
		{"unused", l.worktree, unused, cli.Conversation{Found: true, NewID: true, Reason: "the conversation has no message yet"}},
		{
			"only a local command", l.worktree,
			unused + `{"type":"user","entrypoint":"cli","message":{"role":"user","content":"<command-name>/cost</command-name>"}}` + "\n",
			cli.Conversation{Found: true, NewID: true, Reason: "the conversation has no message yet"},
		},
		{
			"only a tool result", l.worktree,
			unused + `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}` + "\n",
			cli.Conversation{Found: true, NewID: true, Reason: "the conversation has no message yet"},
		},
		{"a picture", l.worktree, `{"type":"user","message":{"content":[{"type":"image"}]}}`, cli.Conversation{Found: true, Resumable: true}},
		{"empty file", l.worktree, "", cli.Conversation{Found: true, NewID: true, Reason: "the conversation has no message yet"}},
		{"main worktree", l.spec.RepoPath, used, cli.Conversation{Found: true, Resumable: true}},
		{
			"directory that is gone", "/old/place", strings.ReplaceAll(used, l.worktree, "/old/place"),
			cli.Conversation{Found: true, NewID: true, Reason: "claude resumes it in /old/place only"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := l.put(l.claudeFile(c.dir, claudeID), c.content)
			t.Cleanup(func() { _ = os.Remove(path) })
			c.want.Transcript = path
			if diff := cmp.Diff(c.want, conversation(t, "claude", l.with(claudeID))); diff != "" {
				t.Error(diff)
			}
		})
	}
	want := cli.Conversation{Reason: "claude has no conversation of this id"}
	if diff := cmp.Diff(want, conversation(t, "claude", l.with(claudeID))); diff != "" {
		t.Error(diff)
	}
}

func TestClaudeConversationOfSiblingWorktree(t *testing.T) {
	l := newLab(t)
	sibling := filepath.Join(filepath.Dir(l.worktree), "b")
	admin := filepath.Join(l.spec.GitCommonDir, "worktrees", "b")
	if err := os.MkdirAll(admin, 0o700); err != nil {
		t.Fatal(err)
	}
	l.put(l.claudeFile(sibling, claudeID), l.sample("claude.jsonl", "/home/dev/run/repos/a1-wt2", sibling))
	if c := conversation(t, "claude", l.with(claudeID)); c.Resumable {
		t.Error("resumable from a worktree of another repository")
	}
	if err := os.WriteFile(filepath.Join(admin, "gitdir"), []byte(sibling+"/.git\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := conversation(t, "claude", l.with(claudeID)); !c.Resumable {
		t.Error("not resumable:", c.Reason)
	}
}

func TestClaudeConfigDir(t *testing.T) {
	l := newLab(t)
	l.put(filepath.Join("other", "projects", dash(l.worktree), claudeID+".jsonl"), l.sample("claude.jsonl"))
	if c := conversation(t, "claude", l.with(claudeID)); c.Found {
		t.Error("found outside of CLAUDE_CONFIG_DIR")
	}
	env := "CLAUDE_CONFIG_DIR=" + filepath.Join(l.home, "other")
	if c := conversation(t, "claude", l.with(claudeID, env)); !c.Resumable {
		t.Error("not found in CLAUDE_CONFIG_DIR")
	}
	set := clis.New(map[string]config.CLI{"claude": {Env: map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(l.home, "other")}}})
	cli, _ := set.Get("claude")
	if c, err := cli.Conversation(t.Context(), cli.Extend(l.with(claudeID))); err != nil || !c.Resumable {
		t.Error("not found in the configured CLAUDE_CONFIG_DIR:", err)
	}
}

// Names as claude 2.1.197 made them.
func TestClaudeFolderNames(t *testing.T) {
	long := strings.Repeat("/"+strings.Repeat("d", 19), 11)
	for dir, name := range map[string]string{
		"/tmp/é😀x_y": "-tmp----x-y",
		long:         strings.ReplaceAll(long, "/", "-")[:200] + "-nefwjp",
	} {
		l := newLab(t)
		l.spec.Worktree = dir
		l.put(filepath.Join(".claude", "projects", name, claudeID+".jsonl"), l.sample("claude.jsonl"))
		if c := conversation(t, "claude", l.with(claudeID)); !c.Resumable {
			t.Errorf("%s: %s", dir, c.Reason)
		}
	}
}

func TestClaudeLearn(t *testing.T) {
	l := newLab(t)
	used := l.sample("claude.jsonl")
	write := func(id, content string, age time.Duration) {
		l.age(l.put(l.claudeFile(l.worktree, id), content), age)
	}
	write("old", used, time.Hour)
	write("new", used, time.Minute)
	write("older", used, 2*time.Hour)
	write("unused", `{"type":"mode"}`, 0)
	write("headless", l.sample("claude.jsonl", `"entrypoint":"cli"`, `"entrypoint":"sdk-cli"`), 0)
	if diff := cmp.Diff([]string{"older", "old", "new"}, learn(t, "claude", l.spec)); diff != "" {
		t.Error(diff)
	}
	write("later", l.sample("claude.jsonl", "2026-11-21T00:53:18.126Z", "2026-11-21T00:53:18.127Z"), 0)
	l.spec.Since = time.Date(2026, 11, 21, 0, 53, 18, 127e6, time.UTC)
	if diff := cmp.Diff([]string{"later"}, learn(t, "claude", l.spec)); diff != "" {
		t.Error("since then", diff)
	}
}
