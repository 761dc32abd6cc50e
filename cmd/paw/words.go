package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/config"
	"paw/orchestrator/errs"
	"paw/session"
)

// aliases are other names of commands, which users of gh, git and tmux type.
var aliases = map[string][]string{
	"attach": {"open", "switch"}, "ui": {"dashboard", "tui"}, "land": {"merge"}, "log": {"logs", "history"}, "recover": {"resume", "restore"}, "remove": {"rm"},
	"status": {"agents", "ls", "list", "ps"}, "stop": {"kill"},
}

// otherWords maps commands to words that are none, which users of gh, git, tmux and other programs type for them.
var otherWords = map[string][]string{
	"add": {"clone", "copy", "fork"}, "add --branches": {"worktree add"}, "answer": {"allow", "approve", "deny"},
	"attach": {"attach-session", "chat", "choose", "focus", "go", "goto", "jump", "select", "select-pane", "switch-client"},
	"check":  {"test", "verify"}, "clis": {"install"}, "config": {"settings"}, "demo": {"tutorial"}, "diff": {"compare", "show", "view", "vs"},
	"gh issue": {"issue"}, "help": {"docs", "man"}, "help exit-codes": {"exit-codes"}, "help names": {"rename"}, "help states": {"states"},
	"help tmux": {"detach", "keys"}, "interrupt": {"cancel", "esc"}, "land": {"accept", "apply", "cherry-pick", "commit"}, "land --as=squash": {"squash"},
	"log": {"capture", "capture-pane", "tail"}, "log --grep": {"find", "grep", "search"}, "path": {"cd", "checkout", "co", "whoami", "worktree"},
	"pr": {"push"}, "purge": {"clean", "gc", "prune"}, "queue": {"release", "todo"}, "recover": {"load", "restart", "resurrect"},
	"remove": {"delete", "worktree remove"}, "rewind": {"reject", "reset", "revert", "rollback"}, "rewind --undo": {"redo"},
	"send": {"ask", "continue", "fix", "prompt", "retry", "tell"}, "send --all": {"broadcast"}, "sh": {"code", "edit", "exec", "shell", "split-window"},
	"start": {"create", "init", "new", "new-session", "up"}, "status": {"describe", "info", "inspect", "save", "what", "who"},
	"status --all":   {"branch", "branches", "list-sessions", "sessions", "worktree list", "worktrees", "wt"},
	"status --watch": {"top", "watch"}, "stop": {"close", "down", "exit", "kill-server", "kill-session", "pause", "quit"},
	"turns": {"reflog", "stash", "tag", "tags"}, "ui": {"sidebar"}, "update": {"fetch", "pull", "rebase", "sync"},
	"usage": {"cost", "costs", "limits", "price", "tokens"}, "version": {"upgrade"},
}

// commandFor returns the command that otherWords has for the first words of a line, and how many of the words it stands for.
func commandFor(words []string) (command string, n int) {
	for n = min(2, len(words)); n > 0; n-- {
		for command, others := range otherWords {
			if slices.Contains(others, strings.ToLower(strings.Join(words[:n], " "))) {
				return command, n
			}
		}
	}
	return "", 0
}

// unknownCommand returns the error for a word that is no command. Its hint is the line with the command that was meant, where that is
// certain.
func (g suggester) unknownCommand(root *cobra.Command, words []string) *errs.Error {
	e := usagef(root, "%s: no such command", words[0])
	s, near := g.sessionHere(), nearest(words[0], commandNames(root))
	command, n := commandFor(words)
	switch {
	case s.Agent(words[0]) != nil:
		e.Message += "; it is an agent"
		if command, n = "attach "+words[0], 1; len(words) > 1 { // as in paw AGENT diff
			command, n = words[1]+" "+words[0], 2
		}
	case command == "start" && len(s.Agents) > 0: // the session is there
		command = "add --branches"
	case len(words) > n && words[n] == everybody && slices.Contains(forAll, command):
		command, n = command+" --"+everybody, n+1
	case strings.HasPrefix(command, "help "):
		n = len(words)
	case command == "" && len(near) > 0:
		e.Message += fmt.Sprintf(" (did you mean %s?)", strings.Join(near, " or "))
		if len(near) == 1 {
			command, n = near[0], 1
		}
	}
	at := slices.Index(g.typed, words[0])
	if command != "" && slices.Equal(g.typed[at:min(at+n, len(g.typed))], words[:n]) {
		e.Hints = []string{g.changed(at, n, strings.Fields(command)...)}
	}
	return e
}

// changed returns the typed line with other words in place of n of its words, if the command takes it; else the help of the command.
func (g suggester) changed(at, n int, by ...string) string {
	line := slices.Concat(g.typed[:at], by, g.typed[at+n:])
	if len(line) > 0 && line[0] == "gh" {
		return strings.TrimPrefix(pasted(line), "paw ")
	}
	root := g.commands(&invocation{stdin: g.stdin, printer: printer{stdout: io.Discard, stderr: io.Discard, env: g.env}}, "")
	root.InitDefaultHelpCmd()
	cmd, words, err := root.Find(line)
	cmd.SetContext(context.Background())
	if err != nil || cmd.ParseFlags(words) != nil || cmd == root && cmd.Flags().NArg() > 0 || cmd.ValidateArgs(cmd.Flags().Args()) != nil || !namesAgent(g.sessionHere(), cmd) {
		return cmd.CommandPath() + " --help"
	}
	return pasted(line)
}

// namesAgent reports whether the first word of a parsed command is an agent of a session, or may be something else.
func namesAgent(s *session.Session, cmd *cobra.Command) bool {
	word := cmd.Flags().Arg(0)
	if len(s.Agents) == 0 || word == "" || word == s.Name || cmd.Flags().Changed(everybody) || !strings.Contains(cmd.Use, "AGENT") {
		return true
	}
	first, _, _ := strings.Cut(word[strings.LastIndexAny(word, "/:")+1:], ",")
	name, _, _ := strings.Cut(first, "@")
	return s.Agent(name) != nil
}

// commandNames returns the names of the commands, also their other names.
func commandNames(root *cobra.Command) (names []string) {
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			names = append(append(names, cmd.Name()), cmd.Aliases...)
		}
	}
	return names
}

// nearest returns the names that begin with a word, else the one that the word is a slip from.
func nearest(word string, names []string) []string {
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, word) })
	if name := config.Nearest(word, names); len(near) == 0 && name != "" {
		near = []string{name}
	}
	if len(word) < 3 { // too short to be certain
		return nil
	}
	return near
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Parent().CommandPath() + " " + cmd.Use
	}
	return cmd.CommandPath() + " COMMAND"
}
