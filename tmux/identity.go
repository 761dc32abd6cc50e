package tmux

import (
	"strconv"
	"strings"
)

// Identity says which agent a pane belongs to.
type Identity struct {
	Session, Agent string
	// Generation is the last launch of paw in the pane; 0 when only the pane's option @paw_agent is left.
	Generation int
}

// option is the value of @paw_agent.
func (id Identity) option() string { return id.Session + "/" + id.Agent }

// launchOption has all of the identity of a pane, as PAW_LAUNCH has it in the environment of its program.
const launchOption = "@paw_launch"

// launch is the value of launchOption.
func (id Identity) launch() string { return id.option() + "/" + strconv.Itoa(id.Generation) }

// isWord reports whether text can be the name of a session or an agent.
func isWord(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// identityOf reads the options of a pane and the command that it was started with, which is there from the pane's first
// instant and not asked for where launchOption is set. It is nil for a user's pane.
func identityOf(launch, option, startCommand string) *Identity {
	if words := strings.Split(launch, "/"); len(words) == 3 {
		return identityIn(words)
	}
	if id := identityFromCommand(startCommand); id != nil {
		return id
	}
	return identityIn(append(strings.Split(option, "/"), "0"))
}

// identityIn reads a session, an agent and a generation, nil where they are none.
func identityIn(words []string) *Identity {
	if len(words) != 3 || !isWord(words[0]) || !isWord(words[1]) {
		return nil
	}
	generation, err := strconv.Atoi(words[2])
	if err != nil || generation < 0 {
		return nil
	}
	return &Identity{Session: words[0], Agent: words[1], Generation: generation}
}

// identityFromCommand reads `PROGRAM... __agent SESSION AGENT GENERATION ...`. The words are taken apart as tmux put
// them together, so a program's path may hold spaces, and a text within one argument of a user's command is no identity.
func identityFromCommand(text string) *Identity {
	words := splitCommand(text)
	for i := 1; i+3 < len(words); i++ {
		if words[i] == "__agent" {
			return identityIn(words[i+1 : i+4])
		}
	}
	return nil
}

// splitCommand cuts #{pane_start_command} into words, as tmux 3.2 and later quote them: with double quotes, single
// quotes, or not at all, a backslash escaping the next character everywhere. Words keep their escapes; those that
// matter have none.
func splitCommand(text string) []string {
	var words []string
	var current strings.Builder
	var quote byte
	inside := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text):
			current.WriteString(text[i : i+2])
			inside = true
			i++
		case quote != 0 && b == quote:
			quote = 0
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
			inside = true
		case quote == 0 && b == ' ':
			if inside {
				words = append(words, current.String())
				current.Reset()
			}
			inside = false
		default:
			current.WriteByte(b)
			inside = true
		}
	}
	if inside {
		words = append(words, current.String())
	}
	return words
}

// Label is what the border of an agent's pane says.
type Label struct {
	Text string // shown as it is, on one line
	// State decides on the colour, and on what is counted: a state by the name that --json gives it. Others have none.
	State string
}
