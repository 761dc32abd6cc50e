package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/errs"
	"paw/session"
)

// aliases are other names of commands, which users of gh, git and tmux type.
var aliases = map[string][]string{
	"attach": {"open", "switch"}, "ui": {"dashboard", "tui"}, "land": {"merge"}, "log": {"logs", "history"}, "recover": {"resume", "restore"}, "remove": {"rm"},
	"status": {"agents", "ls", "list", "ps"}, "stop": {"kill"},
}

// otherWords maps words that are no commands to the command line that does what they ask for. AGENT stands for the word typed
// behind, CLI for that agent's CLI, and ... for any words. Behind a semicolon it says why paw has no such command.
var otherWords = map[string]string{
	"allow": "paw answer AGENT yes", "apply": "paw land AGENT", "approve": "paw answer AGENT yes", "ask": "paw send AGENT", "branches": "paw status --all",
	"cancel": "paw interrupt AGENT", "cd": "paw path AGENT", "checkout": "paw path AGENT", "choose": "paw attach AGENT", "clean": "paw purge",
	"clone": "paw add --cli CLI --from AGENT", "code": "paw sh AGENT", "commit": "paw land AGENT", "continue": "paw send AGENT", "copy": "paw add --cli CLI --from AGENT",
	"create": "paw start", "delete": "paw remove AGENT", "deny": "paw answer AGENT no", "describe": "paw status AGENT", "docs": "paw --help", "down": "paw stop",
	"edit": "paw sh AGENT", "exec": "paw sh AGENT", "exit": "paw stop", "focus": "paw attach AGENT", "fork": "paw add --cli CLI --from AGENT", "gc": "paw purge",
	"go": "paw attach AGENT", "goto": "paw attach AGENT", "info": "paw status AGENT", "init": "paw start", "inspect": "paw status AGENT", "install": "paw clis",
	"jump": "paw attach AGENT", "man": "paw --help", "new": "paw start", "pause": "paw stop AGENT", "prompt": "paw send AGENT",
	"prune": "paw purge", "pull": "paw update AGENT", "push": "paw pr AGENT", "quit": "paw stop", "rebase": "paw update AGENT", "redo": "paw rewind AGENT --undo",
	"reset": "paw rewind AGENT", "restart": "paw recover AGENT", "retry": "paw send AGENT", "revert": "paw rewind AGENT", "rollback": "paw rewind AGENT",
	"select": "paw attach AGENT", "sessions": "paw status --all", "settings": "paw config", "shell": "paw sh AGENT", "show": "paw diff AGENT",
	"squash": "paw land AGENT --as squash", "sync": "paw update AGENT", "tags": "paw turns", "tail": "paw log AGENT", "tell": "paw send AGENT", "test": "paw check AGENT",
	"top": "paw status --watch", "up": "paw start", "verify": "paw check AGENT", "view": "paw diff AGENT",
	"watch": "paw status --watch", "worktree": "paw path AGENT", "worktrees": "paw status --all", "wt": "paw status --all",
	"compare": "paw diff AGENT", "cost": "paw usage", "costs": "paw usage", "exit-codes": "paw help exit-codes", "issue": "gh issue list", "issue view": "gh issue view ...", "price": "paw usage", "states": "paw help states",
	"tokens": "paw usage", "vs": "paw diff AGENT", "whoami": "paw path",
	"accept": "paw land AGENT", "attach-session": "paw attach AGENT", "branch": "paw status --all", "capture-pane": "paw log AGENT", "chat": "paw attach AGENT",
	"cherry-pick": "paw land AGENT", "fetch": "paw update AGENT", "fix": "paw send AGENT", "keys": "paw help tmux", "kill-server": "paw stop", "kill-session": "paw stop ...",
	"limits": "paw usage", "list-sessions": "paw status --all", "new-session": "paw start", "reflog": "paw turns AGENT", "reject": "paw rewind AGENT",
	"select-pane": "paw attach AGENT", "switch-client": "paw attach AGENT", "split-window": "paw sh AGENT", "tag": "paw turns", "todo": "paw queue", "what": "paw status",
	"who": "paw status", "capture": "paw log AGENT", "close": "paw stop AGENT", "co": "paw path AGENT", "esc": "paw interrupt AGENT", "find": "paw log --grep ...",
	"grep": "paw log --grep ...", "release": "paw queue", "resurrect": "paw recover", "search": "paw log --grep ...", "sidebar": "paw ui",
	"stash": "paw turns AGENT; each finished turn is kept", "tutorial": "paw demo", "worktree add": "paw add --branches ...", "worktree list": "paw status --all",
	"worktree remove": "paw remove AGENT", "broadcast": "paw send --all ...", "detach": "paw attach; Ctrl-b d leaves tmux, and the agents go on",
	"load": "paw recover; what was there comes back", "rename": "paw status; names stay, they are in branches and tags",
	"save": "paw status; everything is saved as it happens", "upgrade": "paw version; paw does not replace itself",
}

// unknownCommand returns the error for a word that is no command. If it is certain which command
// was meant, the error names it.
func (g suggester) unknownCommand(root *cobra.Command, args []string) *errs.Error {
	word, behind := args[0], args[1:]
	e := usagef(root, "%s: no such command", word)
	meant, known := otherWords[strings.ToLower(word)]
	if len(behind) > 0 && otherWords[word+" "+behind[0]] != "" {
		meant, behind = otherWords[word+" "+behind[0]], behind[1:]
	}
	switch near := nearCommands(root, word); {
	case g.sessionHere().Agent(word) != nil:
		e.Message += "; it is an agent"
		e.Hints = []string{"paw attach " + word}
		cmd, _, err := root.Find(behind)
		if err == nil && cmd != root && strings.Contains(cmd.Use, "AGENT") && slices.Equal(g.typed[:min(2, len(g.typed))], args[:2]) { // as in paw AGENT diff
			e.Hints = []string{pasted(slices.Concat(behind[:1], args[:1], g.typed[2:]))}
		}
	case known:
		g.fillIn(e, meant, behind)
	case len(near) > 0:
		e.Message += fmt.Sprintf(" (did you mean %s?)", strings.Join(near, " or "))
		if line := g.retyped(word, near[0]); len(near) == 1 && line != "" {
			e.Hints = []string{line}
		}
	}
	return e
}

// fillIn sets the hint of an error to a line of otherWords or flagLines, with the words that were typed behind, which are no flags. AGENT
// becomes the agent that was typed, or the only one that there is: a hint may be pasted unread. Where neither is known the
// hint is the command's help.
func (g suggester) fillIn(e *errs.Error, line string, behind []string) {
	line, note, _ := strings.Cut(line, "; ")
	if note != "" {
		e.Message += "; " + note
	}
	s, text := g.sessionHere(), strings.HasPrefix(line, "paw send ") || strings.HasPrefix(line, "paw sh ")
	before, suffix, named := strings.Cut(line, "AGENT")
	begin, takes := strings.CutSuffix(line, " ...")
	name := ""
	switch {
	case line == "paw start" && len(s.Agents) > 0 && len(behind) == 1:
		line = "paw add --branches " + errs.Quote(behind[0])
	case line == "paw start" && len(s.Agents) > 0: // the session is there
		line = "paw add"
	case takes && len(behind) == 0:
		line = strings.Join(strings.Fields(line)[:2], " ")
	case takes:
		line = begin + strings.TrimPrefix(pasted(behind), "paw")
	case !named:
	case len(behind) > 0 && (len(s.Agents) == 0 || namesAgent(s, behind[0])):
		name, behind = behind[0], behind[1:]
	case len(s.Agents) == 1 && (len(behind) == 0 || text):
		name = s.Agents[0].Name
	default:
		e.Message += "; it is " + line
		line = strings.Join(strings.Fields(line)[:2], " ") + " --help"
	}
	if name != "" {
		if w := s.Agent(name); w != nil {
			before = strings.Replace(before, "CLI", w.CLI, 1)
		}
		command := strings.Fields(line)[1]
		line = before + strings.TrimPrefix(pasted(append([]string{allOr(command, name)}, behind...)), "paw ") + suffix
		cmd, _, err := g.commands(&invocation{}, command).Find([]string{command})
		if err == nil && cmd.Flags().Lookup("dry-run") != nil && (slices.Contains(g.typed, "--dry-run") || slices.Contains(g.typed, "-n")) {
			line += " --dry-run" // the pasted line is to do no more than the typed one
		}
	}
	e.Hints = []string{line}
}

// namesAgent reports whether a word is about agents of a session.
func namesAgent(s *session.Session, word string) bool {
	word = word[strings.LastIndexAny(word, "/:")+1:]
	first, _, _ := strings.Cut(word, ",")
	name, _, _ := strings.Cut(first, "@")
	return s.Agent(name) != nil || word == everybody
}

// nearCommands returns the commands that a mistyped word may mean: commands that begin with the
// word, or are one keystroke away.
func nearCommands(root *cobra.Command, word string) []string {
	var near []string
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		for _, name := range append([]string{cmd.Name()}, cmd.Aliases...) {
			if strings.HasPrefix(name, word) || oneSlip(name, word) {
				near = append(near, cmd.Name())
				break
			}
		}
	}
	return near
}

// oneSlip reports whether word is name with one letter too many, too few or wrong, or with two
// letters swapped. Words of two letters are too short for that.
func oneSlip(name, word string) bool {
	if len(name) < 3 || len(word) < 3 {
		return false
	}
	for len(name) > 0 && len(word) > 0 && name[0] == word[0] {
		name, word = name[1:], word[1:]
	}
	for len(name) > 0 && len(word) > 0 && name[len(name)-1] == word[len(word)-1] {
		name, word = name[:len(name)-1], word[:len(word)-1]
	}
	return len(name) <= 1 && len(word) <= 1 || len(name) == 2 && len(word) == 2 && name[0] == word[1] && name[1] == word[0]
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Parent().CommandPath() + " " + cmd.Use
	}
	return cmd.CommandPath() + " COMMAND"
}
