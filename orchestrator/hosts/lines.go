package hosts

import (
	"io"
	"slices"
	"strings"
)

// textBehind are the commands whose words behind the first one are text, and no names.
var textBehind = []string{"send", "answer", "sh", "run", "spawn", "review", "bisect", "blame"}

// Here makes a command line that a host's paw prints one that works when it is pasted here: its agents and sessions are named by HOST:, and
// what is no command for another machine is run there.
func (h Host) Here(line string) string {
	commands := strings.Split(line, " && ")
	for i, command := range commands {
		words := strings.Split(command, " ")
		if words[0] != "paw" || len(words) < 2 || slices.Contains([]string{"config", "doctor", "clis", "queue"}, words[1]) {
			return "ssh -t " + h.SSH + " " + quoted(line)
		}
		commands[i] = strings.Join(h.here(words), " ")
	}
	return strings.Join(commands, " && ")
}

// here names the agents in the words of one command.
func (h Host) here(words []string) []string {
	if words[1] == "start" || words[1] == "add" {
		return append(words, "--on", h.Name)
	}
	if at := slices.Index(words, "--session") + 1; at > 0 && at < len(words) {
		words[at] = h.Name + ":" + words[at]
		return words
	}
	for i, word := range words[2:] {
		switch {
		case word == "--" || strings.ContainsAny(word, "'\""): // text and paths
			return words
		case word == "" || word[0] == '-' || word[0] >= '0' && word[0] <= '9': // flags and turns
			continue
		}
		words[i+2] = h.Name + ":" + word
		if slices.Contains(textBehind, words[1]) {
			break
		}
	}
	return words
}

// hereLines writes what a host's paw prints, with its command lines made to work here.
type hereLines struct {
	to   io.Writer
	host Host
	held string // the beginning of a line with a command
	mid  bool   // the line that is not written to its end has no command
}

// Said returns a writer for what a host's paw prints for a person to read.
func (h Host) Said(to io.Writer) io.Writer { return &hereLines{to: to, host: h} }

// commandMarks are what a line with a command begins with, and what of it is not part of the command.
var commandMarks = []struct{ mark, before, behind string }{{"paw: hint: ", "paw: hint: ", "\n"}, {"paw attach ", "", " shows it\n"}}

func (l *hereLines) Write(text []byte) (int, error) {
	var out strings.Builder
	for line := range strings.Lines(l.held + string(text)) {
		l.held = ""
		whole := strings.HasSuffix(line, "\n")
		before, behind, command := l.command(line)
		switch {
		case !command:
			out.WriteString(line)
			l.mid = !whole
		case whole:
			out.WriteString(before + l.host.Here(strings.TrimSuffix(line[len(before):], behind)) + behind)
		default:
			l.held = line
		}
	}
	_, err := io.WriteString(l.to, out.String())
	return len(text), err
}

// command reports whether a line is a command, or may become one, and returns what is before and behind it.
func (l *hereLines) command(line string) (before, behind string, is bool) {
	for _, m := range commandMarks {
		if !l.mid && len(line) < longestComplaint && (strings.HasPrefix(line, m.mark) && (line[len(line)-1] != '\n' || strings.HasSuffix(line, m.behind)) || strings.HasPrefix(m.mark, line)) {
			return m.before, m.behind, true
		}
	}
	return "", "", false
}
