package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

type opencode struct{}

func (opencode) Name() string    { return "opencode" }
func (opencode) Program() string { return "opencode" }

// NewConversation returns "": opencode names a conversation at its first prompt.
func (opencode) NewConversation() string { return "" }

func (o opencode) Launch(s Spec) (Command, error) {
	command, err := o.hooks(s)
	if err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable}, s.Args...)
	if s.Prompt != "" {
		if err := checkWord(o.Name(), s.Prompt, exits...); err != nil {
			return Command{}, err
		}
		argument := "--prompt=" + opencodePrompt(s.Prompt)
		if err := checkPrompt(o.Name(), s.Prompt, argument); err != nil {
			return Command{}, err
		}
		argv = append(argv, argument)
	}
	command.Argv = argv
	return command, nil
}

// opencodePrompt keeps a prompt, which opencode types into its own input box, from being completed instead of sent:
// as a command when it begins with "/", as a file when its last word has an "@".
func opencodePrompt(prompt string) string {
	if strings.HasPrefix(prompt, "/") {
		prompt = " " + prompt
	}
	if last := prompt[strings.LastIndexAny(prompt, " \t\n")+1:]; strings.Contains(last, "@") {
		prompt += " "
	}
	return prompt
}

// Resume must run in the directory the conversation belongs to: elsewhere opencode hangs.
func (o opencode) Resume(s Spec) (Command, error) {
	if err := checkID(o.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	command, err := o.hooks(s)
	if err != nil {
		return Command{}, err
	}
	command.Argv = append([]string{s.Executable, "--session", s.ConversationID}, s.Args...)
	return command, nil
}

func (o opencode) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(o.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	sessions, err := opencodeSessions(ctx, s)
	if err != nil {
		return Conversation{}, err
	}
	for _, session := range sessions {
		if session.ID != s.ConversationID {
			continue
		}
		if resolved(session.Directory) != resolved(s.Worktree) {
			return Conversation{Found: true, Reason: "it belongs to " + session.Directory}, nil
		}
		return Conversation{Found: true, Resumable: true}, nil
	}
	return Conversation{Reason: "opencode has no conversation of this id"}, nil
}

// Learn returns the conversations whose directory is the worktree; opencode lists none of its subagents'.
func (o opencode) Learn(ctx context.Context, s Spec) ([]string, error) {
	sessions, err := opencodeSessions(ctx, s)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(sessions, func(i, j int) bool { return sessions[i].Updated < sessions[j].Updated })
	var ids []string
	for _, session := range sessions {
		began := beganHere(s, time.UnixMilli(session.Created))
		if began && resolved(session.Directory) == resolved(s.Worktree) && checkID(o.Name(), session.ID) == nil {
			ids = append(ids, session.ID)
		}
	}
	return ids, nil
}

// The list takes about 1 s, without any network; a busy machine needs longer.
const opencodeTimeout = 20 * time.Second

type opencodeSession struct {
	ID        string `json:"id"`
	Directory string `json:"directory"`
	Created   int64  `json:"created"` // milliseconds since 1970
	Updated   int64  `json:"updated"`
}

// opencodeSessions asks opencode for the conversations of the repository: they lie in a database of its own. --pure
// leaves plugins out, for which it would wait for an npm install. Unlimited it lists no more than 100.
func opencodeSessions(ctx context.Context, s Spec) ([]opencodeSession, error) {
	if !opencodeHasStore(s.Env) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, opencodeTimeout)
	defer cancel()
	out, err := output(ctx, s.Worktree, s.Env, s.Executable, "--pure", "session", "list", "--format", "json", "-n", "1000000")
	if err != nil {
		return nil, err
	}
	var sessions []opencodeSession
	if len(strings.TrimSpace(string(out))) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(out, &sessions); err != nil {
		return nil, fmt.Errorf("opencode session list: %w", err)
	}
	return sessions, nil
}

// opencodeHasStore spares a HOME in which opencode never ran the second that asking takes.
func opencodeHasStore(env []string) bool {
	if getenv(env, "OPENCODE_DB") != "" {
		return true
	}
	data := getenv(env, "XDG_DATA_HOME")
	if data == "" {
		data = folder(env, "", ".local", "share")
	}
	_, err := os.Stat(filepath.Join(data, "opencode"))
	return err == nil
}

// Literal: pasted, only "/" acts, and the words at which it ends.
func (o opencode) Literal(prompt string) (string, error) {
	return opencodePrompt(prompt), checkWord(o.Name(), prompt, exits...)
}

// Ready: the plugin is there 2 s before the screen takes input; what is pasted before is lost.
func (opencode) Ready() Ready { return Ready{Box: true, Settle: 200 * time.Millisecond} }

func (opencode) Environment() []string {
	return []string{"XDG_DATA_HOME", "OPENCODE_DB"}
}

// Facts: no Fork, since opencode works on in the directory of the conversation that it copies, wherever it is started.
func (opencode) Facts() Facts {
	return Facts{Resume: "exact, by id", Fork: "only within its worktree", Headless: "opencode run", Turns: "exact, from a plugin; a turn cut by kill -9 is a crash"}
}

// Marks has what a launch sets.
func (opencode) Marks() []string { return []string{opencodeConfig} }
