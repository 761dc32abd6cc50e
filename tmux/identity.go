package tmux

import (
	"strconv"
	"strings"
)

// Identity says which agent a pane belongs to.
type Identity struct {
	Session, Agent string
	// Generation is the launch that made the pane; 0 when only the pane's option @paw_agent is left, as after a user's
	// own respawn-pane.
	Generation int
}

// option is the value of @paw_agent.
func (id Identity) option() string { return id.Session + "/" + id.Agent }

// isWord reports whether text can be the name of a session or an agent.
func isWord(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// identityOf prefers the command the pane was started with, which is there from the pane's first instant, to the option.
// It is nil for a user's pane.
func identityOf(startCommand, option string) *Identity {
	if id := identityFromCommand(startCommand); id != nil {
		return id
	}
	session, agent, ok := strings.Cut(option, "/")
	if !ok || !isWord(session) || !isWord(agent) {
		return nil
	}
	return &Identity{Session: session, Agent: agent}
}

// identityFromCommand reads `PROGRAM... __agent SESSION AGENT GENERATION ...`. The words are taken apart as tmux put
// them together, so a program's path may hold spaces, and a text within one argument of a user's command is no identity.
func identityFromCommand(text string) *Identity {
	words := splitCommand(text)
	for i := 1; i+3 < len(words); i++ {
		if words[i] != "__agent" {
			continue
		}
		generation, err := strconv.Atoi(words[i+3])
		if err != nil || generation < 0 || !isWord(words[i+1]) || !isWord(words[i+2]) {
			return nil
		}
		return &Identity{Session: words[i+1], Agent: words[i+2], Generation: generation}
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
