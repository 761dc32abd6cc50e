package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

const (
	codexID = "01a1fb99-2663-7c13-80b5-311c45f2f134"
	forkID  = "01a1fba0-7348-7553-975f-87745a66d304"
)

func TestCodexConversation(t *testing.T) {
	l := newLab(t)
	name := "rollout-2026-11-21T00-54-40-" + codexID + ".jsonl"
	home := filepath.Join(l.home, ".codex")
	for _, c := range []struct {
		name, path, content string
		want                cli.Conversation
	}{
		{"used", "sessions/2026/11/21/" + name, l.sample("codex-rollout.jsonl"), cli.Conversation{Found: true, Resumable: true}},
		{
			"archived", "archived_sessions/" + name, l.sample("codex-rollout.jsonl"),
			cli.Conversation{Found: true, Resumable: true, Reason: "it is archived: codex asks whether to bring it back"},
		},
		{
			"a side chat", "archived_sessions/" + name, strings.Replace(l.sample("codex-rollout.jsonl"), `"thread_source":"user"`, `"thread_source":"tui_side_chat"`, 1),
			cli.Conversation{Found: true, Reason: "it is a side chat"},
		},
		{
			"empty after a power cut", "sessions/2026/11/21/" + name, "",
			cli.Conversation{Found: true, Reason: "its rollout file does not begin with this conversation"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := l.put(filepath.Join(".codex", c.path), c.content)
			t.Cleanup(func() { _ = os.Remove(path) })
			c.want.Transcript = path
			if c.want.Resumable {
				c.want.Prompts = filepath.Join(home, "history.jsonl")
			}
			if diff := cmp.Diff(c.want, conversation(t, "codex", l.with(codexID))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, conversation(t, "codex", l.with(codexID, "HOME=/nowhere", "CODEX_HOME="+home))); diff != "" {
				t.Error(diff)
			}
		})
	}
	want := cli.Conversation{Reason: "codex has no conversation of this id"}
	if diff := cmp.Diff(want, conversation(t, "codex", l.with(codexID))); diff != "" {
		t.Error(diff)
	}
}

func TestCodexLearn(t *testing.T) {
	l := newLab(t)
	put := func(id, content string, age time.Duration) {
		l.age(l.put(".codex/sessions/2026/11/21/rollout-2026-11-21T00-54-40-"+id+".jsonl", content), age)
	}
	link := filepath.Join(l.home, "link")
	if err := os.Symlink(l.worktree, link); err != nil {
		t.Fatal(err)
	}
	here := func(file, cwd, id, as string, more ...string) string {
		return l.sample(file, append([]string{cwd, l.worktree, id, as}, more...)...)
	}
	put("first", here("codex-rollout.jsonl", "/home/dev/lab/wt2", codexID, codexID), time.Minute)
	put("fork", here("codex-fork.jsonl", "/home/dev/lab/wt3", forkID, forkID), time.Second)
	put("through-link", l.sample("codex-rollout.jsonl", "/home/dev/lab/wt2", link, codexID, "linked"), time.Hour)
	put("elsewhere", l.sample("codex-rollout.jsonl", codexID, "elsewhere"), 0)
	put("exec", here("codex-rollout.jsonl", "/home/dev/lab/wt2", codexID, "exec", `"source":"cli"`, `"source":"exec"`), 0)
	put("subagent", here("codex-rollout.jsonl", "/home/dev/lab/wt2", codexID, "sub", `"source":"cli"`, `"source":{"subagent":"review"}`), 0)
	put("hidden", here("codex-rollout.jsonl", "/home/dev/lab/wt2", codexID, "hidden", `"thread_source":"user"`, `"thread_source":"title"`), 0)
	put("option", here("codex-rollout.jsonl", "/home/dev/lab/wt2", codexID, "--last"), 0)
	put("torn", `{"type":"session_me`, 0)
	if diff := cmp.Diff([]string{"linked", codexID, forkID}, learn(t, "codex", l.spec)); diff != "" {
		t.Error(diff)
	}
	l.spec.Since = time.Date(2026, 11, 21, 1, 2, 38, 938e6, time.UTC) // when the fork began
	if diff := cmp.Diff([]string{forkID}, learn(t, "codex", l.spec)); diff != "" {
		t.Error("since the fork", diff)
	}
}
