package screens

import (
	"slices"

	"paw/config/display"
	"paw/orchestrator/cli"
)

// Beyond is the row of a cursor that is not in the part of Main.
const Beyond = 1 << 20

const lowestPanel = 8 // smallest height of a panel, in rows

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
	isEdge, first := func(c Cell) bool { return c.Char == '│' }, 0
	if len(rows) > 0 {
		first = slices.IndexFunc(rows[0], isEdge)
	}
	if first <= 0 {
		return s, rows, 0
	}
	s.Width = display.Graphemes.Width(rows[0][:first].String())
	cut = slices.Clone(rows)
	for ; height < len(rows); height++ {
		r, at, width := rows[height], 0, 0
		for ; at < len(r) && width < s.Width; at++ {
			width += display.Graphemes.Width(string(r[at].Char))
		}
		if at == len(r) || width > s.Width || !isEdge(r[at]) {
			break
		}
		for r = r[:at]; len(r) > 0 && r[len(r)-1].Char == ' '; {
			r = r[:len(r)-1]
		}
		cut[height] = r
	}
	return s, cut, height
}
