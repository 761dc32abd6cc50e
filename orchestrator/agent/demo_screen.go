package agent

import "strings"

// Screen: the demo CLI types everything below what it printed before, with the cursor at the end. While it works its
// input line has no mark: it is empty when the cursor stands at the begin of a line.
func (demo) Screen(s Screenshot) Screen {
	rows := rowsOf(s)
	if !s.CursorShown || s.CursorY >= len(rows) || len(ending(rows, 1)) == 0 {
		return Screen{}
	}
	if s.CursorX == 0 && len(rows[s.CursorY]) == 0 {
		return Screen{Box: BoxEmpty, Works: true}
	}
	line := rows[s.CursorY].String()
	if question, ok := strings.CutSuffix(line, " [y/n]"); ok && s.CursorX == len(rows[s.CursorY])+1 && !rows[s.CursorY].begins('>') {
		return Screen{Dialog: oneLine(question)}
	}
	switch first := demoPrompt(rows[:s.CursorY+1]); {
	case line == ">" && s.CursorX == 2:
		return Screen{Box: BoxEmpty}
	case first < s.CursorY || // several lines, or typed while it works
		!strings.HasPrefix(line, "> ") || s.CursorX != len(rows[s.CursorY]):
		return Screen{Box: BoxFilled}
	}
	return Screen{Box: BoxFilled, Draft: strings.TrimPrefix(line, "> ")}
}

// demoPrompt is the row in which the prompt that reaches to the last row begins, -1 for none.
func demoPrompt(rows []row) int {
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
