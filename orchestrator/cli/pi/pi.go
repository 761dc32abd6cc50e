// Package pi drives pi, the coding agent of Earendil Works.
package pi

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/inbox"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/streams"
)

// Driver is the driver of pi.
var Driver cli.Driver = driver{cli.Named{Of: "pi", Known: facts}, streams.Reader[streamLine]{CLI: "pi"}}

type driver struct {
	cli.Named
	streams.Reader[streamLine]
}

var facts = cli.Facts{
	ChoosesID: true, Reports: 1, Metered: true, Resume: "exact, by id", Turns: "exact, from an extension", OwnHooks: true,
	Environment: []string{"PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"},
	Marks:       []string{"PI_CODING_AGENT", "AI_AGENT"}, // which pi sets for all programs that it runs
	// The event comes from the extension, which pi loads before it draws its box.
	Ready: cli.Ready{Event: true, Box: true, Settle: 200 * time.Millisecond},
}

func (driver) Channel(s cli.Spec) cli.Channel { return inbox.Of(s, "pi") }

func (p driver) Launch(s cli.Spec) (cli.Command, error) { return p.command(s) }

// Resume uses the option that begins a conversation, too.
func (p driver) Resume(s cli.Spec) (cli.Command, error) {
	s.Prompt = ""
	return p.command(s, again(s)...)
}

// again returns what pi needs besides the id to go on with a conversation: one of another folder, as of a worktree that
// was moved, goes on in a copy under the same id. By the id alone pi would begin an empty one.
func again(s cli.Spec) []string {
	if path, here := file(s); path != "" && !here {
		return []string{"--fork", path}
	}
	return nil
}

// Fork returns a command that copies the conversation from, of whatever folder.
func (p driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	return p.command(s, "--fork", from)
}

// command returns a launch with paw's extension and the first prompt, if there is one.
func (p driver) command(s cli.Spec, options ...string) (cli.Command, error) {
	command := p.extension(s)
	command.Argv = slices.Concat([]string{s.Executable, "--session-id", s.ConversationID}, options, command.Argv, s.Args)
	if s.Prompt != "" {
		command.Argv = append(command.Argv, "--", argument(s.Prompt))
	}
	return command, prompts.CheckArgument(p.Name(), s.Prompt, argument(s.Prompt))
}

// argument returns a prompt as the word behind "--", where pi takes nothing for an option, but "@" for a file and "/" for
// a command.
func argument(prompt string) string {
	if strings.HasPrefix(prompt, "@") || strings.HasPrefix(prompt, "/") {
		return " " + prompt
	}
	return prompt
}

func (p driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	path, _ := file(s)
	return records.Lookup(path, "pi has no conversation of this id", func(line record) bool { return line.Message.Role == "user" })
}

// file returns the file of the conversation Spec.ConversationID, and whether that belongs to the worktree.
func file(s cli.Spec) (path string, here bool) {
	for _, folder := range folders(s) {
		files, _ := filepath.Glob(filepath.Join(folder, "*_"+s.ConversationID+".jsonl"))
		for _, one := range files {
			_ = records.EachLine(one, func(head record) bool {
				here = cli.Resolved(head.Cwd) == s.Resolved(s.Worktree)
				return false
			})
			if here {
				return one, true
			}
			path = cmp.Or(path, one)
		}
	}
	return path, false
}

// folders returns patterns of the folders with conversations: that of the worktree, then all.
func folders(s cli.Spec) []string {
	home := cli.Folder(s.Env, "PI_CODING_AGENT_DIR", ".pi", "agent")
	if dir := cmp.Or(cli.Getenv(s.Env, "PI_CODING_AGENT_SESSION_DIR"), configured(filepath.Join(s.Worktree, ".pi")), configured(home)); dir != "" {
		if below, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = cli.Folder(s.Env, "", below)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Worktree, dir)
		}
		return []string{cli.GlobQuote(dir)}
	}
	name := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(cli.Resolved(s.Worktree), "/"))
	sessions := cli.GlobQuote(filepath.Join(home, "sessions"))
	return []string{filepath.Join(sessions, cli.GlobQuote("--"+name+"--")), filepath.Join(sessions, "*")}
}

// configured returns the folder of conversations that the settings in a folder name, "" for none.
func configured(dir string) (sessions string) {
	var settings struct {
		SessionDir string `json:"sessionDir"`
	}
	if content, err := disk.ReadFile(filepath.Join(dir, "settings.json")); err == nil {
		_ = json.Unmarshal(content, &settings)
	}
	return settings.SessionDir
}

// Literal refuses what pi's input box runs as a command, whatever blanks are before it. The space keeps Enter
// from completing the name of a file.
func (p driver) Literal(prompt string) (string, error) {
	if strings.HasPrefix(cli.TrimLeft(prompt), "!") {
		return "", &cli.PromptError{CLI: p.Name(), Reason: `a prompt that begins with "!" would run as a shell command`}
	}
	return prompts.Closed(prompt), prompts.CheckCommand(p.Name(), prompt)
}

// Headless asks for a stream of JSON: pi's exit code is 0 after an API error.
func (p driver) Headless(s cli.Spec) (cli.Command, error) {
	argv := slices.Concat([]string{s.Executable, "--mode", "json", "--session-id", s.ConversationID}, again(s), s.Args, []string{"--", argument(s.Prompt)})
	return cli.Command{Argv: argv}, prompts.CheckArgument(p.Name(), s.Prompt, argument(s.Prompt))
}

type streamLine struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
	Aborted bool    `json:"aborted"`
}

// Tell counts the last message of the model: pi tries again after some errors.
func (l streamLine) Tell(t *streams.Turn) {
	switch {
	case l.Type == "agent_settled":
		t.Ended = !l.Aborted && t.Failed.Message == ""
	case l.Type != "message_end" || l.Message.Role != "assistant":
	case l.Message.Error != "":
		t.Failed.Message, t.Shown = l.Message.Error, l.Message.Error+"\n"
	default:
		t.Failed.Message, t.Answer = "", l.Message.Content.Words()
		if t.Answer != "" {
			t.Shown = t.Answer + "\n"
		}
		for _, part := range l.Message.Content {
			if part.Type == "toolCall" {
				t.Shown += streams.ToolLine(part.Name, part.Arguments)
			}
		}
	}
}
