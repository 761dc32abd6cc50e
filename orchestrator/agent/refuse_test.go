package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/orchestrator/agent/clis"
	"paw/orchestrator/agent/internal/prompts"
)

func TestPromptsThatCannotBeArguments(t *testing.T) {
	set := clis.New(map[string]config.CLI{"typed": {Command: []string{"typed"}, Prompt: "send"}})
	long := strings.Repeat("x", prompts.MaxArgument()+1)
	for _, c := range []struct {
		cli, prompt string
		send        bool
	}{
		{"aider", "hello", true},
		{"claude", "/clear", false},
		{"claude", "exit", false},
		{"opencode", "exit", false},
		{"qwen", "exit", false},
		{"copilot", "exit", false},
		{"gemini", "/quit", false},
		{"gemini", " \n/quit", false},
		{"qwen", "/quit", false},
		{"typed", "hello", true},
		{"claude", long, true},
		{"codex", long, true},
		{"opencode", long[:prompts.MaxArgument()-3], true}, // with its option too long
		{"claude", "a\x00b", false},
		{"demo", "a\x00b", false},
	} {
		cli, _ := set.Get(c.cli)
		_, err := cli.Launch(prompt(c.prompt))
		var refused *agent.PromptError
		if !errors.As(err, &refused) {
			t.Errorf("%s %.10q: no refusal but %v", c.cli, c.prompt, err)
			continue
		}
		if refused.Send != c.send || refused.CLI != c.cli || !strings.HasPrefix(err.Error(), c.cli+": ") {
			t.Errorf("%s %.10q: %+v", c.cli, c.prompt, refused)
		}
	}
	cli, _ := set.Get("claude")
	if _, err := cli.Launch(prompt(long[:prompts.MaxArgument()])); err != nil {
		t.Error("the longest argument is refused:", err)
	}
}

func TestPromptsThatCannotBeTyped(t *testing.T) {
	for _, c := range []struct {
		cli, prompt string
		refused     bool
	}{
		{"demo", "/help", true},
		{"demo", "/exit\n", true},
		{"demo", "/help me", false},
		{"claude", "/clear", true},
		{"claude", " \n/clear", true},
		{"claude", "\u200b/clear", true},
		{"claude", "/clear\nand more", true},
		{"claude", "/", true},
		{"claude", "// a comment", false},
		{"claude", "/tmp/x is gone", false},
		{"claude", "exit", true},
		{"claude", " quit\n", true},
		{"claude", "e\u200bxit", true},
		{"claude", ":wq!", true},
		{"claude", "exit now", false},
		{"gemini", "/quit", true},
		{"gemini", "\ufeff \n/quit now/or never", true},
		{"gemini", "/", true},
		{"qwen", "/quit", true},
		{"qwen", "/tmp/x is gone", false},
		{"qwen", "// a comment", false},
		{"qwen", "/* one */", false},
		{"qwen", " exit", true},
		{"opencode", "quit", true},
		{"opencode", ":q\n", true},
		{"opencode", "quit smoking", false},
		{"copilot", "help", true},
		{"copilot", "help me", false},
		{"codex", "exit", false},
		{"gemini", "exit", false},
		{"copilot", "!ls", true},
		{"copilot", "\n !ls", true},
		{"copilot", "/exit", false},
		{"copilot", "ls!", false},
	} {
		_, err := get(t, c.cli).Literal(c.prompt)
		var refused *agent.PromptError
		if errors.As(err, &refused) != c.refused || c.refused && (refused.Send || refused.CLI != c.cli) {
			t.Errorf("%s %q: %v", c.cli, c.prompt, err)
		}
	}
	if _, err := get(t, "copilot").Launch(prompt("!ls")); err != nil {
		t.Error("copilot takes it as an argument:", err)
	}
}

func TestIDsThatCannotBeIDs(t *testing.T) {
	set := clis.New(map[string]config.CLI{"mine": {Command: []string{"mine"}, Resume: []string{"--resume", "{id}"}}})
	for _, name := range set.Names() {
		cli, _ := set.Get(name)
		for _, id := range []string{"", "--last", "../../etc/passwd", "a*", "a b", "a\nb", strings.Repeat("a", 200)} {
			var refused *agent.ConversationError
			s := with(func(s *agent.Spec) { s.ConversationID = id })
			if _, err := cli.Resume(s); !errors.As(err, &refused) {
				t.Errorf("%s resumes %q: %v", name, id, err)
			}
		}
	}
}

func TestNewConversationIsAcceptedByLaunch(t *testing.T) {
	set := clis.New(nil)
	for _, name := range set.Names() {
		cli, _ := set.Get(name)
		id := cli.NewConversation()
		if (id != "") != cli.Facts().ChoosesID {
			t.Errorf("%s: id %q", name, id)
		}
		if id != "" && id == cli.NewConversation() {
			t.Errorf("%s: the same id twice", name)
		}
		command, err := cli.Launch(with(func(s *agent.Spec) { s.ConversationID = id }))
		if err != nil || command.Argv[0] != spec.Executable {
			t.Errorf("%s: %v %v", name, command.Argv, err)
		}
	}
}

func TestClaudeIsNoChildSession(t *testing.T) {
	cli, _ := clis.New(nil).Get("claude")
	for _, start := range []func(agent.Spec) (agent.Command, error){cli.Launch, cli.Resume} {
		if command, err := start(spec); err != nil || !slices.Contains(command.Unset, "CLAUDE_CODE_CHILD_SESSION") {
			t.Error("claude would save nothing:", command.Unset, err)
		}
	}
}
