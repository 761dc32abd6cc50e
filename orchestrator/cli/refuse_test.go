package cli_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/cli/internal/prompts"
)

func TestPromptsThatCannotBeArguments(t *testing.T) {
	set := clis.New(map[string]config.CLI{"typed": {Command: []string{"typed"}, Prompt: "send"}})
	long := strings.Repeat("x", prompts.MaxArgument()+1)
	for _, tt := range []struct {
		cli, prompt string
		send        bool
	}{
		{"aider", "hello", true},
		{"claude", "/clear", false},
		{"claude", "exit", false},
		{"opencode", "exit", false},
		{"qwen", "exit", false},
		{"copilot", "exit", false},
		{"qwen", "/quit", false},
		{"typed", "hello", true},
		{"claude", long, true},
		{"codex", long, true},
		{"opencode", long[:prompts.MaxArgument()-3], true}, // with its option too long
		{"claude", "a\x00b", false},
		{"demo", "a\x00b", false},
		{"demo", "/exit", false},
	} {
		c, _ := set.Get(tt.cli)
		_, err := c.Launch(prompt(tt.prompt))
		var refused *cli.PromptError
		if !errors.As(err, &refused) {
			t.Errorf("%s %.10q: no refusal but %v", tt.cli, tt.prompt, err)
			continue
		}
		if refused.Send != tt.send || refused.CLI != tt.cli || !strings.HasPrefix(err.Error(), tt.cli+": ") {
			t.Errorf("%s %.10q: %+v", tt.cli, tt.prompt, refused)
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
		{"copilot", "!ls", true},
		{"copilot", "\n !ls", true},
		{"copilot", "/exit", false},
		{"copilot", "ls!", false},
		{"pi", "/quit", true},
		{"pi", " !ls", true},
		{"pi", "/tmp/x is gone", false},
		{"pi", "exit", false},
	} {
		_, err := get(t, c.cli).Literal(c.prompt)
		var refused *cli.PromptError
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
		if name == "aider" { // is given none
			continue
		}
		c, _ := set.Get(name)
		for _, id := range []string{"", "--last", "../../etc/passwd", "a*", "a b", "a\nb", strings.Repeat("a", 200)} {
			var refused *cli.ConversationError
			s := with(func(s *cli.Spec) { s.ConversationID = id })
			if _, err := c.Resume(s); !errors.As(err, &refused) {
				t.Errorf("%s resumes %q: %v", name, id, err)
			}
		}
	}
}

func TestNewConversationIsAcceptedByLaunch(t *testing.T) {
	set := clis.New(nil)
	for _, name := range set.Names() {
		c, _ := set.Get(name)
		id := c.NewConversation()
		if (id != "") != c.Facts().ChoosesID {
			t.Errorf("%s: id %q", name, id)
		}
		if id != "" && id == c.NewConversation() {
			t.Errorf("%s: the same id twice", name)
		}
		command, err := c.Launch(with(func(s *cli.Spec) { s.ConversationID = id }))
		if err != nil || !slices.Contains(command.Argv, spec.Executable) {
			t.Errorf("%s: %v %v", name, command.Argv, err)
		}
	}
}

func TestClaudeIsNoChildSession(t *testing.T) {
	c, _ := clis.New(nil).Get("claude")
	for _, start := range []func(cli.Spec) (cli.Command, error){c.Launch, c.Resume} {
		if command, err := start(spec); err != nil || !slices.Contains(command.Unset, "CLAUDE_CODE_CHILD_SESSION") {
			t.Error("claude would save nothing:", command.Unset, err)
		}
	}
}
