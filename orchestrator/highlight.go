package orchestrator

import (
	"context"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/worktree"
)

// highlightTime is how long a program may take to colour a diff.
const highlightTime = 2 * time.Second

// highlighters are programs that colour a diff line by line, with their arguments, the best first.
// Each is told the background, dark or light, where it has an option for that.
func highlighters(background string) [][]string {
	bat := []string{"--language=diff", "--color=always", "--style=plain", "--paging=never"}
	return [][]string{{"delta", "--color-only", "--paging=never", "--" + background}, append([]string{"bat"}, bat...), append([]string{"batcat"}, bat...)}
}

// Highlight returns a diff with the syntax of its lines in colours, by delta or bat where one of them
// is installed and changes no line. Else it returns the diff as it is.
func Highlight(ctx context.Context, h *app.App, diff string, dark bool) string {
	background := "light"
	if dark {
		background = "dark"
	}
	plain := display.Strip(diff)
	ctx, cancel := context.WithTimeout(ctx, highlightTime)
	defer cancel()
	for _, words := range highlighters(background) {
		program, err := cli.LookPath(words[0], h.Env)
		if err != nil {
			continue
		}
		out, err := worktree.Filtered(ctx, h.Env, plain, program, words[1:]...)
		if err == nil && slices.Equal(slices.Collect(strings.Lines(display.Strip(out))), slices.Collect(strings.Lines(plain))) {
			return out
		}
		break
	}
	return diff
}
