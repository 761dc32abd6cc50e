package agent

import "strings"

// Screen: the demo CLI types everything below what it printed before, with the cursor at the end. While it works the
// cursor stands at the begin of a line.
func (demo) Screen(s Screenshot) Screen {
	rows := s.rows()
	if !s.CursorShown || s.CursorX == 0 || s.CursorY >= len(rows) {
		return Screen{}
	}
	line := rows[s.CursorY].String()
	if question, ok := strings.CutSuffix(line, " [y/n]"); ok && s.CursorX == len(rows[s.CursorY])+1 && !rows[s.CursorY].begins('>') {
		return Screen{Dialog: oneLine(question)}
	}
	switch first := demoPrompt(rows[:s.CursorY+1]); {
	case first < 0:
		return Screen{}
	case line == ">" && s.CursorX == 2:
		return Screen{Box: BoxEmpty}
	case first < s.CursorY || !strings.HasPrefix(line, "> ") || s.CursorX != len(rows[s.CursorY]):
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
