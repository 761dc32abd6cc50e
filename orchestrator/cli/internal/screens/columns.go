package screens

import (
	"slices"

	"paw/config/display"
	"paw/orchestrator/cli"
)

// Beyond is the row of a cursor that is not in the part of Main.
const Beyond = 1 << 20

// lowestPanel is the smallest height of a panel, in rows.
const lowestPanel = 8

// Main reads the part of a screen that is the agent's: what stands right of a line that runs down the whole screen is another
// conversation, or a panel. A cursor there gets the row Beyond.
func Main(s cli.Screenshot) (cli.Screenshot, []Row) {
	rows := RowsOf(s)
	left, cut, height := beside(s, rows)
	if height < len(rows) {
		return s, rows
	}
	if s.CursorX > left.Width {
		left.CursorX, left.CursorY, left.CursorShown = 0, Beyond, false
	}
	return left, cut
}

// BesidePanel returns the rows left of a panel at the top of the screen; a screen without a panel is returned as it is.
func BesidePanel(s cli.Screenshot, rows []Row) (cli.Screenshot, []Row) {
	if left, cut, height := beside(s, rows); height >= lowestPanel {
		return left, cut
	}
	return s, rows
}

// beside cuts rows at the line that begins in the first one, and returns how many rows it runs down.
func beside(s cli.Screenshot, rows []Row) (left cli.Screenshot, cut []Row, height int) {
	if len(rows) == 0 {
		return s, rows, 0
	}
	isEdge := func(c Cell) bool { return c.Char == '│' }
	first := slices.IndexFunc(rows[0], isEdge)
	if first <= 0 {
		return s, rows, 0
	}
	s.Width = display.Graphemes.Width(rows[0][:first].String())
	cut = slices.Clone(rows)
	for ; height < len(rows); height++ {
		r := rows[height]
		at := slices.IndexFunc(r, isEdge)
		for at >= 0 && display.Graphemes.Width(r[:at].String()) < s.Width {
			next := slices.IndexFunc(r[at+1:], isEdge)
			if at += 1 + next; next < 0 {
				at = -1
			}
		}
		if at < 0 || display.Graphemes.Width(r[:at].String()) != s.Width {
			break
		}
		for r = r[:at]; len(r) > 0 && r[len(r)-1].Char == ' '; {
			r = r[:len(r)-1]
		}
		cut[height] = r
	}
	return s, cut, height
}
