package turns

import "strings"

// outcomeFooter is the word of the "outcome:" footer of a commit message.
func outcomeFooter(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	// Some CLIs add a footer of their own as another paragraph, so all of the
	// last lines that look like footers count.
	for i := len(lines) - 1; i > 0; i-- {
		name, value, ok := strings.Cut(lines[i], ":")
		switch {
		case strings.TrimSpace(lines[i]) == "":
			continue
		case !ok || strings.ContainsAny(name, " \t"):
			return ""
		case strings.EqualFold(name, "outcome") && len(strings.Fields(value)) > 0:
			return strings.Fields(value)[0]
		}
	}
	return ""
}
