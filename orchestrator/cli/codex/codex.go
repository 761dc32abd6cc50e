// Package codex drives the Codex CLI.
package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
	"paw/session/turn"
)

// Driver is the driver of codex.
var Driver cli.Driver = driver{cli.Named{Of: "codex", Known: facts}, streams.Reader[execLine]{CLI: "codex"}}

type driver struct {
	cli.Named
	streams.Reader[execLine]
}

// facts leave the id to codex, which names a conversation at its first prompt.
var facts = cli.Facts{
	Metered: true, Resume: "exact, by id", Turns: "exact, from hooks; API errors from the rollout file", LateHooks: true, SilentErrors: true,
	Environment: []string{"CODEX_HOME", "CODEX_SQLITE_HOME"}, // the list of conversations is a database apart from the rollout files
	// of codex 0.169
	Marks:     []string{"CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"},
	AwaitsEnd: []string{"Stop"},                             // of codex 0.169.0
	Ready:     cli.Ready{Box: true, Clear: []string{"C-u"}}, // codex reports SessionStart only with the first prompt
}

// embedded keeps codex out of its shared daemon: turns in the daemon would run with the environment
// of the session that started it, and outlive their pane. Any -c option does that ("command-line
// configuration overrides … requires embedded mode"), except features.*; not every version knows
// --no-daemon. This -c also prevents the dialog about a new version, which would come before the
// first prompt.
var embedded = []string{"-c", "check_for_update_on_startup=false"}

func (c driver) Launch(s cli.Spec) (cli.Command, error) {
	return c.command(s, s.Prompt, "")
}

func (c driver) Resume(s cli.Spec) (cli.Command, error) {
	return c.command(s, "", s.ConversationID, "resume")
}

// Fork starts a copy of the conversation from; codex chooses the id of the copy.
func (c driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	return c.command(s, s.Prompt, from, "fork")
}

// command builds the command line: the subcommand, if any, the options, the conversation and the
// prompt.
func (c driver) command(s cli.Spec, prompt, conversation string, subcommand ...string) (cli.Command, error) {
	hooks, err := c.hooks(s)
	if err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable}, subcommand...)
	if len(subcommand) > 0 {
		// Without -C codex asks for the directory when a conversation began in another one.
		argv = append(argv, "-C", s.Worktree)
	}
	argv = append(argv, c.options(s, hooks)...)
	// After "--" neither "-x" is an option nor "resume" a subcommand.
	if conversation != "" || prompt != "" {
		argv = append(argv, "--")
	}
	if conversation != "" {
		argv = append(argv, conversation)
	}
	if prompt != "" {
		text := prompt
		if strings.HasPrefix(prompt, "!") {
			text = " " + prompt // codex runs "!..." as a shell command
		}
		argv = append(argv, text)
		err = prompts.CheckArgument(c.Name(), prompt, text)
	}
	return cli.Command{Argv: argv}, err
}

// options returns the options of every command. In its sandbox codex cannot commit in a linked
// worktree: the index and the objects lie in two git directories outside of the worktree, and it
// needs both.
func (c driver) options(s cli.Spec, hooks []string) []string {
	var dirs []string
	if s.GitWritable {
		dirs = slices.DeleteFunc([]string{s.GitCommonDir, s.GitDir}, func(dir string) bool { return dir == "" })
	}
	return slices.Concat(embedded, hooks, c.writable(s, dirs), s.Args)
}

// HeldBy returns who locks the conversation, of codex 0.171.0: another codex or its daemon.
func (driver) HeldBy(s cli.Spec) int {
	return cli.LockedBy(filepath.Join(cli.GlobQuote(cli.Folder(s.Env, "CODEX_HOME", ".codex")), "thread-writer-locks", s.ConversationID+".lock"))
}

// Literal puts a space before "/" or "!", and behind a last word that opens a menu: codex trims the spaces after it has taken
// the text for a prompt.
func (driver) Literal(prompt string) (string, error) {
	return prompts.Closed(prompts.Spaced(prompt)), nil
}

// ownConfig has the keys that paw reads from codex's own configuration. paw never writes there.
type ownConfig struct {
	Sandbox struct {
		Roots []string `toml:"writable_roots"`
	} `toml:"sandbox_workspace_write"`
}

// writable returns the options that open directories to codex's sandbox. They replace the user's own
// list, which is therefore added. With --add-dir codex exits at once where its sandbox allows no
// further directories, as in a repository that it does not trust yet: it could never ask for trust.
func (driver) writable(s cli.Spec, dirs []string) []string {
	if len(dirs) == 0 {
		return nil
	}
	var config ownConfig
	if _, err := toml.DecodeFile(filepath.Join(cli.Folder(s.Env, "CODEX_HOME", ".codex"), "config.toml"), &config); err != nil {
		config = ownConfig{} // codex tells what is wrong with it
	}
	roots := hooks.JSON(slices.Concat(config.Sandbox.Roots, dirs)) // a JSON list of strings is also valid TOML
	return []string{"-c", "sandbox_workspace_write.writable_roots=" + string(roots)}
}

// Headless runs `codex exec`, which uses no daemon and refuses every permission instead of asking.
func (c driver) Headless(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable, "exec", "--json", "-C", s.Worktree}, c.options(s, nil)...)
	if s.ConversationID != "" {
		argv = append(argv, "resume", "--", s.ConversationID, s.Prompt)
	} else {
		argv = append(argv, "--", s.Prompt)
	}
	return cli.Command{Argv: argv}, prompts.CheckArgument(c.Name(), s.Prompt, s.Prompt)
}

type execLine struct {
	Thread  string `json:"thread_id"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Command json.RawMessage `json:"command"`
		Message string          `json:"message"`
	} `json:"item"`
}

func (l execLine) Tell(t *streams.Turn) {
	switch {
	case l.Type == "thread.started":
		t.ID = l.Thread
	case l.Type == "turn.completed":
		t.Ended = true
	case l.Type == "turn.failed":
		t.Failed.Message = l.Error.Message
	case l.Type == "error":
		t.Failed.Message, t.Shown = l.Message, l.Message+"\n"
	case l.Type != "item.completed":
	case l.Item.Type == "agent_message":
		t.Answer, t.Shown = l.Item.Text, l.Item.Text+"\n"
	case l.Item.Type == "command_execution":
		t.Shown = streams.ToolLine("shell", json.RawMessage(`{"command":`+string(l.Item.Command)+`}`))
	case l.Item.Type == "error":
		t.Shown = l.Item.Message + "\n"
	}
}

// hookEvents lists the events that paw listens to. None is called for tools: the rollout file shows
// that a permission was granted, and an API error.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "Interrupt", "SessionEnd",
}

// timeoutOf returns the time limit of a hook in seconds. codex cuts the limit of SessionEnd and
// Interrupt to 3 s, and hashes the cut value.
func timeoutOf(event string) int {
	if event == "SessionEnd" || event == "Interrupt" {
		return 3
	}
	return hooks.PatienceFor(event, "UserPromptSubmit", "Stop")
}

// hooks returns the options that add paw's hooks to the user's own, for one launch. codex asks the
// user about each unknown hook, and runs one whose hash is in hooks.state; the hash is computed as
// in codex 0.169 (hooks/src/config_rules.rs).
func (c driver) hooks(s cli.Spec) ([]string, error) {
	if s.Hook == "" {
		return nil, nil
	}
	if !utf8.ValidString(s.Hook) {
		return nil, fmt.Errorf("codex: hooks: %q is not UTF-8, as its configuration must be", s.Hook)
	}
	var options, trusted []string
	for _, event := range hookEvents {
		command, timeout := hooks.Command(s, c.Name(), event), timeoutOf(event)
		options = append(options, "-c", fmt.Sprintf(`hooks.%s=[{hooks=[{type="command",command=%s,timeout=%d}]}]`,
			event, tomlString(command), timeout))
		trusted = append(trusted, fmt.Sprintf(`"/<session-flags>/config.toml:%s:0:0"={trusted_hash="%s"}`, snake(event), trustedHash(event, command, timeout)))
	}
	return append(options, "-c", "hooks.state={"+strings.Join(trusted, ",")+"}"), nil
}

// trustedHash returns codex's hash of a hook: of its JSON with sorted keys and without spaces.
func trustedHash(event, command string, timeout int) string {
	content := hooks.JSON(map[string]any{
		"event_name": snake(event),
		"hooks":      []any{map[string]any{"async": false, "command": command, "timeout": timeout, "type": "command"}},
	})
	// encoding/json always escapes U+2028 and U+2029; codex does not.
	text := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(content))
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// snake converts SessionStart to session_start.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// tomlString quotes text as a basic string of TOML: like a string of JSON, with DEL escaped, too.
func tomlString(text string) string {
	return strings.ReplaceAll(string(hooks.JSON(text)), "\x7f", `\u007F`)
}

// Event counts the work of codex's own subagents as the agent's work.
func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hooks.Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	p.AgentID = ""
	if name == "Interrupt" {
		return p.Event(turn.KindInterrupt), nil
	}
	return p.Named(name), nil
}
