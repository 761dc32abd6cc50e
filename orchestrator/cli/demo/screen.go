package demo

import (
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/screens"
)

// Screen expects the cursor at the end of the output: the demo CLI prints below what it printed
// before. While a turn runs the input line has no mark: it is empty when the cursor is at the start
// of a line.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	rows := screens.RowsOf(s)
	if !s.CursorShown || s.CursorY >= len(rows) || len(screens.Ending(rows, 1)) == 0 {
		return cli.Screen{}
	}
	if s.CursorX == 0 && len(rows[s.CursorY]) == 0 {
		return cli.Screen{Box: cli.BoxEmpty, Works: true}
	}
	line, whole := rows[s.CursorY].String(), wrapped(rows[:s.CursorY+1], s.Width)
	if question, ok := strings.CutSuffix(whole, " [y/n]"); ok && s.CursorX == len(rows[s.CursorY])+1 && !strings.HasPrefix(whole, ">") {
		return cli.Screen{Dialog: questions.Title(question)}
	}
	switch first := promptRow(rows[:s.CursorY+1]); {
	case line == ">" && s.CursorX == 2:
		return cli.Screen{Box: cli.BoxEmpty}
	case first < s.CursorY || // several lines, or typed while a turn runs
		!strings.HasPrefix(line, "> ") || s.CursorX != len(rows[s.CursorY]):
		return cli.Screen{Box: cli.BoxFilled}
	}
	return cli.Screen{Box: cli.BoxFilled, Draft: strings.TrimPrefix(line, "> ")}
}

// wrapped joins the rows of the last line: a line continues in the next row where a row is full.
func wrapped(rows []screens.Row, width int) string {
	y := len(rows) - 1
	for y > 0 && width > 0 && len(rows[y-1]) == width {
		y--
	}
	line := ""
	for _, row := range rows[y:] {
		line += row.String()
	}
	return line
}

// trust is the question that the demo CLI asks with --ask-trust, before its first hook.
const trust = "Do you trust the files in this folder?"

// Question offers y and n, which answer at once.
func (d driver) Question(s cli.Screenshot) (cli.Question, bool) {
	asked := d.Screen(s).Dialog
	options := []cli.Option{{Label: "y", Key: "y"}, {Label: "n", Key: "n"}}
	return cli.Question{Text: asked, Options: options, Outside: asked == trust}, asked != ""
}

// promptRow returns the row where the prompt in the last rows begins, -1 for none.
func promptRow(rows []screens.Row) int {
	for y := len(rows) - 1; y >= 0; y-- {
		switch line := rows[y].String(); {
		case line == ">" || strings.HasPrefix(line, "> "):
			return y
		case strings.HasPrefix(line, "demo: ") || strings.HasPrefix(line, "queued: ") || strings.HasPrefix(line, "you: "):
			return -1
		}
	}
	return -1
}
