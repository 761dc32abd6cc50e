// Package opencode drives opencode.
package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/acp"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/records"
)

// Driver is the driver of opencode.
var Driver cli.Driver = driver{cli.Named{Of: "opencode", Known: facts}, acp.OneShot{CLI: "opencode", Speaks: "acp"}}

// driver has no Fork: opencode works in the directory of the conversation that it copies, wherever
// it is started.
type driver struct {
	cli.Named
	acp.OneShot
}

// facts leave the id to opencode, which names a conversation at its first prompt.
var facts = cli.Facts{
	Reports: 1, Metered: true, Resume: "exact, by id", Turns: "exact, from a plugin; a turn cut by kill -9 is a crash", EscapeAgain: []string{"again to interrupt"},
	Leaves:      []string{".opencode/.gitignore", ".opencode/package.json", ".opencode/package-lock.json", ".opencode/bun.lock"},
	Environment: []string{"XDG_DATA_HOME", "OPENCODE_DB"},
	Marks:       []string{configVariable}, // which a launch sets
	// The start event is no sign: the plugin loads 2 s before the screen takes input, and opencode loses what is pasted before.
	Ready: cli.Ready{Box: true, Settle: 200 * time.Millisecond},
}

func (o driver) Launch(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable}, s.Args...)
	if s.Prompt == "" {
		return o.command(s, "", argv)
	}
	argument := "--prompt=" + literal(s.Prompt)
	if err := cmp.Or(prompts.CheckWord(o.Name(), s.Prompt, prompts.Exits...), prompts.CheckArgument(o.Name(), s.Prompt, argument)); err != nil {
		return cli.Command{}, err
	}
	return o.command(s, "", append(argv, argument))
}

// Resume must run in the directory of the conversation: elsewhere opencode hangs.
func (o driver) Resume(s cli.Spec) (cli.Command, error) {
	return o.command(s, s.ConversationID, append([]string{s.Executable, "--session", s.ConversationID}, s.Args...))
}

func (o driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	sessions, err := listSessions(ctx, s)
	if err != nil {
		return cli.Conversation{}, err
	}
	for _, session := range sessions {
		if session.ID != s.ConversationID {
			continue
		}
		if cli.Resolved(session.Directory) != cli.Resolved(s.Worktree) {
			return cli.Conversation{Found: true, Reason: "it belongs to " + session.Directory}, nil
		}
		return cli.Conversation{Found: true, Resumable: true}, nil
	}
	return cli.Conversation{Reason: "opencode has no conversation of this id"}, nil
}

// Learn returns the conversations whose directory is the worktree; opencode does not list those of
// its subagents.
func (o driver) Learn(ctx context.Context, s cli.Spec) ([]string, error) {
	sessions, err := listSessions(ctx, s)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(sessions, func(i, j int) bool { return sessions[i].Updated < sessions[j].Updated })
	var ids []string
	for _, session := range sessions {
		if records.BeganHere(s, time.UnixMilli(session.Created)) && cli.Resolved(session.Directory) == cli.Resolved(s.Worktree) {
			ids = append(ids, session.ID)
		}
	}
	return ids, nil
}

// The list takes about 1 s, without network, and over 20 s at a load of 18 on two cores.
const timeout = time.Minute

type listedSession struct {
	ID        string `json:"id"`
	Directory string `json:"directory"`
	Created   int64  `json:"created"` // Unix time in milliseconds
	Updated   int64  `json:"updated"`
}

// listSessions runs `opencode session list`, as opencode keeps conversations in a database. --pure
// loads no plugins, for which opencode would wait for an npm install. Without -n it lists at most
// 100.
func listSessions(ctx context.Context, s cli.Spec) ([]listedSession, error) {
	if !hasStore(s.Env) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := cli.Output(ctx, s.Worktree, s.Env, s.Executable, "--pure", "session", "list", "--format", "json", "-n", "1000000")
	if err != nil {
		return nil, err
	}
	var sessions []listedSession
	if len(strings.TrimSpace(string(out))) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(out, &sessions); err != nil {
		return nil, fmt.Errorf("opencode session list: %w", err)
	}
	return sessions, nil
}

// hasStore reports whether opencode ever ran with this HOME: asking opencode takes a second.
func hasStore(env []string) bool {
	if cli.Getenv(env, "OPENCODE_DB") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(cli.Folder(env, "XDG_DATA_HOME", ".local", "share"), "opencode"))
	return err == nil
}

// literal returns a prompt that the input box does not complete, as a command or as the name of a file.
func literal(prompt string) string { return prompts.Closed(prompts.Spaced(prompt)) }

// Literal refuses the words that exit.
func (o driver) Literal(prompt string) (string, error) {
	return literal(prompt), prompts.CheckWord(o.Name(), prompt, prompts.Exits...)
}
