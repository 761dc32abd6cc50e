package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

const id = "0b6a5c1e-6f0d-4d53-9c36-7a9f0f3f1b11"

var spec = cli.Spec{
	Executable: "/bin/x", Worktree: "/r.paw/s/a", RepoPath: "/r", GitCommonDir: "/r/.git", GitDir: "/r/.git/worktrees/a",
	StateDir: "/state", ConversationID: id, Agent: "a",
	Env: []string{"HOME=/home/dev"},
}

func with(change func(*cli.Spec)) cli.Spec {
	s := spec
	change(&s)
	return s
}

func prompt(text string) cli.Spec { return with(func(s *cli.Spec) { s.Prompt = text }) }

func TestArgv(t *testing.T) {
	set := clis.New(map[string]config.CLI{
		"mine":   {Command: []string{"mine", "--flag"}, Resume: []string{"--resume", "{id}"}, Args: []string{"-v"}},
		"chosen": {Command: []string{"chosen", "--id={id}"}, Resume: []string{"--open={id}"}},
	})
	for _, c := range []struct {
		name, cli string
		resume    bool
		spec      cli.Spec
		want      []string
	}{
		{"first", "claude", false, spec, []string{"/bin/x", "--session-id", id}},
		{"option", "claude", false, prompt("--help"), []string{"/bin/x", "--session-id", id, "--", "--help"}},
		{"path", "claude", false, prompt("/etc/x is old"), []string{"/bin/x", "--session-id", id, "--", " /etc/x is old"}},
		{"lines", "claude", false, prompt("a\n$(b) `c`"), []string{"/bin/x", "--session-id", id, "--", "a\n$(b) `c`"}},
		{"subcommand", "claude", false, prompt("doctor"), []string{"/bin/x", "--session-id", id, "--", " doctor"}},
		{"shell", "claude", false, prompt("!ls"), []string{"/bin/x", "--session-id", id, "--", "!ls"}},
		{
			"arguments", "claude", false, with(func(s *cli.Spec) { s.Prompt = "a b"; s.Args = []string{"--allowedTools", "Edit"} }),
			[]string{"/bin/x", "--session-id", id, "--allowedTools", "Edit", "--", "a b"},
		},
		{"resume", "claude", true, prompt("never again"), []string{"/bin/x", "--resume", id}},

		{"first", "codex", false, spec, []string{"/bin/x", "-c", "check_for_update_on_startup=false"}},
		{"option", "codex", false, prompt("--help"), []string{"/bin/x", "-c", "check_for_update_on_startup=false", "--", "--help"}},
		{"subcommand", "codex", false, prompt("resume"), []string{"/bin/x", "-c", "check_for_update_on_startup=false", "--", "resume"}},
		{"slash", "codex", false, prompt("/quit"), []string{"/bin/x", "-c", "check_for_update_on_startup=false", "--", "/quit"}},
		{"shell", "codex", false, prompt("!ls"), []string{"/bin/x", "-c", "check_for_update_on_startup=false", "--", " !ls"}},
		{
			"writable git", "codex", false, with(func(s *cli.Spec) { s.GitWritable = true; s.Args = []string{"-m", "x"} }),
			[]string{
				"/bin/x", "-c", "check_for_update_on_startup=false",
				"-c", `sandbox_workspace_write.writable_roots=["/r/.git","/r/.git/worktrees/a"]`, "-m", "x",
			},
		},
		{
			"resume", "codex", true, prompt("never again"),
			[]string{"/bin/x", "resume", "-C", "/r.paw/s/a", "-c", "check_for_update_on_startup=false", "--", id},
		},

		{"first", "opencode", false, spec, []string{"/bin/x"}},
		{"option", "opencode", false, prompt("--help"), []string{"/bin/x", "--prompt=--help "}},
		{"slash", "opencode", false, prompt("/exit"), []string{"/bin/x", "--prompt= /exit "}},
		{"file", "opencode", false, prompt("see @README"), []string{"/bin/x", "--prompt=see @README "}},
		{"file within", "opencode", false, prompt("@README is old"), []string{"/bin/x", "--prompt=@README is old"}},
		{"resume", "opencode", true, prompt("never again"), []string{"/bin/x", "--session", id}},

		{"first", "qwen", false, spec, []string{"/bin/x", "--session-id", id}},
		{"option", "qwen", false, prompt("--help @x"), []string{"/bin/x", "--session-id", id, "--prompt-interactive=--help @x"}},
		{"resume", "qwen", true, prompt("never again"), []string{"/bin/x", "--resume", id}},

		{"first", "copilot", false, spec, []string{"/bin/x", "--session-id=" + id}},
		{"option", "copilot", false, prompt("--help"), []string{"/bin/x", "--session-id=" + id, "--interactive=--help"}},
		{"slash", "copilot", false, prompt("/exit"), []string{"/bin/x", "--session-id=" + id, "--interactive= /exit"}},
		{"shell", "copilot", false, prompt("!ls"), []string{"/bin/x", "--session-id=" + id, "--interactive= !ls"}},
		{"resume", "copilot", true, prompt("never again"), []string{"/bin/x", "--resume=" + id}},

		{"first", "pi", false, spec, []string{"/bin/x", "--session-id", id}},
		{"option", "pi", false, prompt("--help"), []string{"/bin/x", "--session-id", id, "--", "--help"}},
		{"slash", "pi", false, prompt("/quit"), []string{"/bin/x", "--session-id", id, "--", " /quit"}},
		{"file", "pi", false, prompt("@README is old"), []string{"/bin/x", "--session-id", id, "--", " @README is old"}},
		{"resume", "pi", true, prompt("never again"), []string{"/bin/x", "--session-id", id}},

		{"first", "aider", false, spec, []string{"/bin/x"}},
		{"resume", "aider", true, prompt("never again"), []string{"/bin/x", "--restore-chat-history"}},

		{"first", "demo", false, spec, []string{"/bin/x", "demo-agent", "--session-id", id}},
		{"option", "demo", false, prompt("-p"), []string{"/bin/x", "demo-agent", "--session-id", id, "--", "-p"}},
		{"resume", "demo", true, spec, []string{"/bin/x", "demo-agent", "--resume", id}},

		{"first", "mine", false, spec, []string{"/bin/x", "--flag", "-v"}},
		{"prompt", "mine", false, prompt("do it"), []string{"/bin/x", "--flag", "-v", "do it"}},
		{"resume", "mine", true, spec, []string{"/bin/x", "--flag", "--resume", id, "-v"}},
		{"first", "chosen", false, spec, []string{"/bin/x", "--id=" + id}},
		{"resume", "chosen", true, spec, []string{"/bin/x", "--open=" + id}},
	} {
		t.Run(c.cli+"/"+c.name, func(t *testing.T) {
			cli, ok := set.Get(c.cli)
			if !ok {
				t.Fatal("no such CLI")
			}
			start := cli.Launch
			if c.resume {
				start = cli.Resume
			}
			got, err := start(cli.Extend(c.spec))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Argv); diff != "" {
				t.Error(diff)
			}
		})
	}
}
