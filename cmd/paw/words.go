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

// otherWords maps words that are no commands to the command line that does what they ask for. AGENT
// stands for the word typed behind, CLI for that agent's CLI. Further typed words are appended to lines that end with
// AGENT or a flag.
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
	"compare": "paw diff AGENT", "cost": "paw usage", "costs": "paw usage", "exit-codes": "paw help exit-codes", "issue": "gh issue list", "price": "paw usage", "states": "paw help states",
	"tokens": "paw usage", "vs": "paw diff AGENT", "whoami": "paw path",
	"accept": "paw land AGENT", "attach-session": "paw attach AGENT", "branch": "paw status --all", "capture-pane": "paw log AGENT", "chat": "paw attach AGENT",
	"cherry-pick": "paw land AGENT", "fetch": "paw update AGENT", "fix": "paw send AGENT", "keys": "paw help tmux", "kill-server": "paw stop", "kill-session": "paw stop",
	"limits": "paw usage", "list-sessions": "paw status --all", "new-session": "paw start", "reflog": "paw turns AGENT", "reject": "paw rewind AGENT",
	"select-pane": "paw attach AGENT", "switch-client": "paw attach AGENT", "split-window": "paw sh AGENT", "tag": "paw turns", "todo": "paw queue", "what": "paw status",
	"who":     "paw status",
	"capture": "paw log AGENT", "close": "paw stop AGENT", "co": "paw path AGENT", "esc": "paw interrupt AGENT", "find": "paw log --grep",
	"grep": "paw log --grep", "release": "paw queue", "resurrect": "paw recover", "search": "paw log --grep", "sidebar": "paw ui",
	"stash": "paw turns AGENT", "tutorial": "paw demo", "worktree add": "paw add --branches", "worktree list": "paw status --all", "worktree remove": "paw remove AGENT",
	"broadcast": "paw send --all", "detach": "paw attach", "load": "paw recover", "rename": "paw status", "save": "paw status", "upgrade": "paw version",
}

// wordNotes say why paw has no command for a word.
var wordNotes = map[string]string{
	"stash":  "each finished turn is kept",
	"detach": "Ctrl-b d leaves tmux, and the agents go on", "load": "what was there comes back", "rename": "names stay, they are in branches and tags",
	"save": "everything is saved as it happens", "upgrade": "paw does not replace itself",
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
	case known && g.takenBy(e, meant):
	case known:
		if note := wordNotes[strings.ToLower(word)]; note != "" {
			e.Message += "; " + note
		}
		if meant == "paw start" && len(g.sessionHere().Agents) > 0 { // the session is there
			if meant = "paw add"; len(behind) == 1 {
				meant += " --branches"
			}
		}
		if n := slices.IndexFunc(behind, isTurns); word == "issue" && n >= 0 {
			meant = "paw add --issue " + behind[n]
			if s := g.sessionHere(); namesAgent(s, behind[0]) {
				meant = "paw send AGENT --issue " + behind[n]
			}
		}
		g.fillIn(e, meant, behind)
	case len(near) > 0:
		e.Message += fmt.Sprintf(" (did you mean %s?)", strings.Join(near, " or "))
		if line := g.retyped(word, near[0]); len(near) == 1 && line != "" {
			e.Hints = []string{line}
		}
	}
	return e
}

// takenBy sets the hint of an error to the typed command line with another command, paw start or paw add, if that takes the
// flags that were typed.
func (g suggester) takenBy(e *errs.Error, meant string) bool {
	if meant != "paw start" || len(g.typed) < 2 || !strings.HasPrefix(g.typed[1], "-") {
		return false
	}
	names := []string{"start"}
	if len(g.sessionHere().Agents) > 0 {
		names = []string{"add", "start"}
	}
	for _, name := range names {
		cmd, _, err := g.commands(&invocation{}, name).Find([]string{name})
		if err == nil && cmd.ParseFlags(g.typed[1:]) == nil && cmd.Flags().NArg() == 0 {
			e.Hints = []string{pasted(append([]string{name}, g.typed[1:]...))}
			return true
		}
	}
	return false
}

// fillIn sets the hint of an error to a line of otherWords or flagLines, with the words that were typed behind. AGENT
// becomes the agent that was typed, or the only one that there is: a hint may be pasted unread. Where neither is known the
// hint is the command's help.
func (g suggester) fillIn(e *errs.Error, line string, behind []string) {
	s := g.sessionHere()
	if len(behind) > 1 && !takesText(line) && !namesAgent(s, behind[0]) && namesAgent(s, behind[1]) { // as in worktree list AGENT
		behind = behind[1:]
	}
	if len(behind) == 0 && line == "paw attach AGENT" {
		line = "paw attach"
	}
	agent := ""
	switch {
	case !strings.Contains(line, "AGENT"):
	case len(behind) > 0 && (len(s.Agents) == 0 || namesAgent(s, behind[0])):
		agent, behind = behind[0], behind[1:]
	case len(s.Agents) == 1 && (len(behind) == 0 || takesText(line)):
		agent = s.Agents[0].Name
	default:
		e.Message += "; it is " + line
		e.Hints = []string{strings.Join(strings.Fields(line)[:2], " ") + " --help"}
		return
	}
	line = filledIn(line, agent, behind, s)
	if meant, _, err := g.commands(&invocation{}, "").Find(strings.Fields(line)[1:2]); err == nil && meant.Flags().Lookup("dry-run") != nil &&
		(slices.Contains(g.typed, "--dry-run") || slices.Contains(g.typed, "-n")) {
		line += " --dry-run" // the pasted line is to do no more than the typed one
	}
	e.Hints = []string{line}
}

// takesText reports whether a line of otherWords takes any words behind the agent.
func takesText(line string) bool {
	return strings.HasPrefix(line, "paw send ") || strings.HasPrefix(line, "paw sh ")
}

// namesAgent reports whether a word is about agents of a session.
func namesAgent(s *session.Session, word string) bool {
	word = word[strings.LastIndexAny(word, "/:")+1:]
	first, _, _ := strings.Cut(word, ",")
	name, _, _ := strings.Cut(first, "@")
	return s.Agent(name) != nil || word == everybody
}

// filledIn replaces AGENT and CLI in a line, and appends the words behind where the line ends with what takes them.
func filledIn(line, agent string, behind []string, s *session.Session) string {
	if line == "paw rewind AGENT" && len(behind) == 0 {
		line = "paw turns AGENT" // paw turns shows the missing number
	}
	takes := slices.ContainsFunc([]string{"AGENT", "send --all", " --grep", " --branches", "paw stop"}, func(end string) bool { return strings.HasSuffix(line, end) })
	if agent == everybody && slices.Contains([]string{"paw send AGENT", "paw land AGENT", "paw update AGENT"}, line) {
		agent = "--" + everybody
	}
	filled := []string{strings.Replace(line, "AGENT", errs.Quote(agent), 1)}
	if w := s.Agent(agent); w != nil {
		filled[0] = strings.Replace(filled[0], "CLI", w.CLI, 1)
	}
	for _, word := range behind {
		if takes {
			filled = append(filled, errs.Quote(word))
		}
	}
	return strings.Join(filled, " ")
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

// wordsError returns the error for too many or too few words. check is the command's own check of
// the number of words.
func wordsError(cmd *cobra.Command, check cobra.PositionalArgs, args []string) error {
	typed := strings.TrimSpace(cmd.CommandPath() + " " + strings.Join(args, " "))
	if len(cmd.ValidArgs) > 0 && len(args) > 0 {
		return usagef(cmd, "%s: it takes one of %s", typed, strings.Join(cmd.ValidArgs, ", "))
	}
	if len(args) > 0 && check(cmd, nil) == nil && check(cmd, args[:1]) != nil {
		return usagef(cmd, "%s: %s takes no arguments", typed, cmd.CommandPath())
	}
	what := "a word is missing"
	for n := range args {
		if check(cmd, args[:n]) == nil {
			what = fmt.Sprintf("%s is one word too many", errs.Quote(args[n]))
		}
	}
	return usagef(cmd, "%s: %s; it is %s", typed, what, useLine(cmd))
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Parent().CommandPath() + " " + cmd.Use
	}
	return cmd.CommandPath() + " COMMAND"
}
