package claude

import (
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/screens"
)

// Screen looks for the input box around the cursor: claude keeps the terminal's cursor, hidden,
// where it draws its own. The box lies between two lines over the whole width; a low pane cuts off
// the lower one.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	s, rows := screens.Main(s)
	if box, ok := boxIn(s, rows); ok {
		box.Works = works().MatchString(screens.TextOf(rows))
		return box
	}
	seen := dialogIn(screens.BesidePanel(s, rows))
	if stopped().MatchString(screens.TextOf(rows)) {
		seen.Stopped, seen.Dialog = true, ""
	}
	return seen
}

// stopped matches what claude writes at Ctrl-Z. tmux lets it go on at once, which claude does not notice.
var stopped = lazyregexp.New("(?m)^Claude Code (?:is|has been) suspended\\. Run `fg`")

// works matches the line above the input box while a turn runs, or the hint below it.
var works = lazyregexp.New(`(?m)^[^\s\w❯⎿▎] \S+… \(\d.*\)|^ .* · esc to interrupt\b`)

// places matches the placeholders in the input box for a long paste or an image.
var places = lazyregexp.New(`\[(Pasted text|\.\.\.Truncated text|Image) #\d+`)

// boxIn reads the input box around the cursor; false where the cursor is in no box.
func boxIn(s cli.Screenshot, rows []screens.Row) (cli.Screen, bool) {
	if s.CursorY >= len(rows) {
		return cli.Screen{}, false
	}
	top, bottom := s.CursorY, s.CursorY
	for top >= 0 && !border(rows, top, s.Width) {
		top--
	}
	for bottom < len(rows) && !border(rows, bottom, s.Width) {
		bottom++
	}
	cut := bottom == len(rows)
	if top < 0 || top == s.CursorY {
		return cli.Screen{}, false
	}
	if hidden().MatchString(rows[top].String()) {
		return cli.Screen{Box: cli.BoxFilled}, true
	}
	if cut && (top != s.CursorY-1 || bottom != s.CursorY+1) {
		return cli.Screen{}, false
	}
	if !cut && other().MatchString(screens.TextOf(rows[bottom:])) {
		return cli.Screen{}, false
	}
	first := rows[top+1]
	if len(first) == 0 || (len(first) > 1 && first[1].Char != ' ' && first[1].Char != '\u00a0') {
		return cli.Screen{}, false
	}
	switch first[0].Char {
	case '❯':
	case '!': // shell mode: the shell gets what is typed
		return cli.Screen{Box: cli.BoxFilled}, true
	default:
		return cli.Screen{}, false
	}
	text := rows[top+1 : bottom]
	if !cut && visual().MatchString(screens.TextOf(rows[bottom:])) {
		return cli.Screen{Box: cli.BoxFilled}, true
	}
	if len(text) == 1 && empty(first.From(2), s.CursorX) {
		return cli.Screen{Box: cli.BoxEmpty}, true
	}
	if cut {
		return cli.Screen{Box: cli.BoxFilled}, true
	}
	return screens.Filled(text, 2, s.Width-6, places), true
}

var (
	// hidden matches the upper edge of a box that is too low for its text.
	hidden = lazyregexp.New(`─ ↑ \d+ more ─`)
	// other matches the hint below the box of the session list, which starts another session.
	other = lazyregexp.New(`enter to return|space to reply`)
	// visual is below a box in which no Enter sends anything.
	visual = lazyregexp.New(`(?m)^ *-- VISUAL( LINE)? --`)
)

// border reports whether row y is an edge of the input box. An edge may contain words.
func border(rows []screens.Row, y, width int) bool {
	r := rows[y]
	return len(r) == width && r[:min(3, width)].All(func(c screens.Cell) bool { return c.Char == '─' && !c.Dim }) && r[width-1].Char == '─'
}

// empty reports whether the text after the prompt mark is nothing, or a suggestion: claude draws
// suggestions dim except for the letter under the cursor.
func empty(text screens.Row, cursorX int) bool {
	return cursorX == 2 && (len(text) == 0 || (len(text) > 1 && text[0].Reverse && text[1:].All(screens.Dim)))
}

// keys matches the last line of every dialog of claude and of no other screen: the keys that leave
// it.
var keys = lazyregexp.New(
	`(?i)\b(esc to (cancel|close|go back|exit|skip|clear)|enter to (confirm|select|save|use|continue|stay)|press enter)\b`)

// cutDialogs are dialogs that do not say how to leave them, or whose last line a low pane cuts off.
var cutDialogs = []screens.Dialog{
	screens.Asks(`^ *Auto mode can.t check actions in this session$`, "says that auto mode cannot check its actions"),
	screens.AsksInTurn(`^Review your answers$`, "asks whether to submit your answers"), // last page of AskUserQuestion
	screens.Asks(`^ *Held message from another session`, "asks whether to deliver a message of another session"),
	screens.AsksInTurn(`^ *Exit plan mode\?$`, "asks whether to go on with its plan"),
	screens.Asks(`^ *Choose the text style that looks best with|^ *Syntax theme: .*\(ctrl\+t to`, "first-run question"),
}

// dialogs recognizes a dialog by its words. The first match names the dialog.
var dialogs = slices.Concat(cutDialogs, []screens.Dialog{
	screens.Asks(`trust this folder|(?s:Security guide.*No, exit)`, "asks whether to trust the folder"),
	screens.Asks(`Detected a custom API key`, "asks whether to use the API key of its environment"),
	screens.Asks(`Select login method|Paste code here|Browser didn.t open`, "asks you to log in"),
	screens.Asks(`^ *Security notes:|terminal setup\?`, "first-run question"),
	screens.Asks(`^ *Resume [sS]ession`, "asks which conversation to resume"),
	screens.Asks(`^ *Select model`, "asks to choose a model"),
	screens.AsksInTurn(`^╌+\n((?s:.+?))\n╌+\n(?s:.*)^ ?Do you want to proceed\?`, "asks for permission: $1"),
	screens.AsksInTurn(`^ ?Do you want to proceed\?`, "asks for permission"),
	screens.AsksInTurn(`^ ?(Do you want to [^?]*\?)`, "$1"),
	screens.AsksInTurn(`^(?:← +)? ?[☐☒✔] .*\n\s*\n(.+)`, "$1"), // AskUserQuestion: the question below the tabs with the questions' names
})

// dialogIn recognizes a dialog, in which a digit takes an option at once, or ticks it. A dialog starts
// at a line over the whole width; some dialogs have further lines inside.
func dialogIn(s cli.Screenshot, rows []screens.Row) cli.Screen {
	if !keys().MatchString(screens.TextOf(screens.Ending(rows, 3))) {
		return askedIn(rows, cutDialogs)
	}
	for begin := len(rows) - 1; begin >= 0; begin-- {
		if begin > 0 && !rows[begin].Rule(s.Width, "─") && !rows[begin].Begins('▔') {
			continue
		}
		if seen := askedIn(rows[begin:], dialogs); seen.Dialog != "" {
			return seen
		}
	}
	return cli.Screen{Dialog: "a menu is open"}
}

// askedIn reads a dialog of these that begins with the rows. Options to type into are left to the user.
func askedIn(rows []screens.Row, known []screens.Dialog) cli.Screen {
	text := screens.TextOf(rows)
	seen := screens.AskedIn(text, known, screens.Choices(rows, "❯"))
	q := seen.Question
	if q == nil {
		return seen
	}
	q.Deaf, q.Paged = deaf, pages().MatchString(text)
	for i, o := range q.Options {
		if m := ticked().FindStringSubmatch(o.Label); m != nil {
			q.Options[i].Box, q.Options[i].Label, q.Submit = m[1], m[2], "Right"
		}
	}
	if typedInto(q.Options) {
		seen.Question = nil
	}
	return seen
}

// deaf is how long claude ignores answers after it has drawn a dialog. Measured: of five answers
// typed at once it ignored four or only moved the selection; of fifty typed 0.1 s later, one.
const deaf = 1200 * time.Millisecond

// typedInto reports whether the user has begun to type an answer: the text replaces the label of
// the option before the last one, and digits would be added to it.
func typedInto(options []cli.Option) bool {
	n := len(options)
	return n > 2 && options[n-1].Label == "Chat about this" && options[n-2].Means() != cli.MeansText
}

// pages matches the row with the tabs of several questions.
var pages = lazyregexp.New(`(?m)^← .*✔ Submit +→`)

// ticked matches an option with a check box.
var ticked = lazyregexp.New(`^(\[.\]) (.*)`)

// Literal puts a space before a prompt that begins with "!", which claude would hand to a shell; it
// helps for no other command. A space at the end keeps a menu closed (":smile"), and Enter from being a new line (a backslash).
func (c driver) Literal(prompt string) (string, error) {
	text := prompts.Closed(prompt)
	if strings.HasPrefix(cli.WithoutInvisible(prompt), "!") {
		text = " " + text
	}
	return text, c.checkOwn(prompt)
}

// checkOwn refuses prompts that claude would run as commands of its own. claude trims a prompt and
// drops invisible characters first, so that no prefix can prevent it.
func (c driver) checkOwn(prompt string) error {
	seen := cli.WithoutInvisible(prompt)
	if err := prompts.CheckWord(c.Name(), seen, prompts.Exits...); err != nil {
		return err
	}
	return prompts.CheckCommand(c.Name(), seen)
}

// claude folds a paste into a placeholder such as "[Pasted text #1 +9 lines]" when it has more than
// 800 characters, or more than two line breaks that also leave less than ten rows of the pane. It
// tells the model that folded text may not come from the user, and puts the text between marks (see
// pasted).
const (
	folds     = 800
	foldLines = 2
	foldRows  = 10
)

// imageNames matches the end of an image's file name: claude attaches the image when one paste
// contains the whole name.
var imageNames = lazyregexp.New(`(?i)\.(png|jpe?g|gif|webp|bmp)\b`)

// Pastes splits text into parts that claude does not fold. In a low pane a single line break is too
// much, and 2.1.197 handles a key between two pastes at the wrong time: there a text of several
// lines is one paste, which arrives whole, between marks.
func (driver) Pastes(text string, rows int) []string {
	breaks := min(foldLines, rows-foldRows)
	if breaks < 1 && strings.Contains(text, "\n") {
		return []string{text}
	}
	var pastes []string
	images := imageNames().FindAllStringIndex(text, -1)
	begin, seen := 0, 0
	cut := func(end int) {
		if end > begin {
			pastes = append(pastes, text[begin:end])
		}
		begin, seen = end, 0
	}
	for i, r := range text {
		if len(images) > 0 && i > images[0][0] {
			cut(i)
			images = images[1:]
		}
		if r == '\n' && seen == breaks || i-begin > folds-100 {
			cut(i)
		}
		if r == '\n' {
			seen++
		}
	}
	cut(len(text))
	return pastes
}

func (driver) Canonical(prompt string) string { return cli.Canonical(pasted(prompt)) }

// pasted removes the marks that claude puts around pasted text: two line feeds, a line with an
// opening tag, the text, and a line with a closing tag with the same id of four hexadecimal digits.
func pasted(prompt string) string {
	const opening, closing, end = `<pasted_content id="`, "\n</pasted_content id=\"", "\">"
	var b strings.Builder
	rest := prompt
	for {
		before, after, found := strings.Cut(rest, opening)
		if !found {
			b.WriteString(rest)
			return b.String()
		}
		id, body, isTag := strings.Cut(after, end+"\n")
		text, behind, closed := strings.Cut(body, closing+id+end)
		atLine := before == "" || strings.HasSuffix(before, "\n\n")
		if !isTag || !closed || !atLine || len(id) != 4 || strings.Trim(id, "0123456789abcdef") != "" {
			b.WriteString(before + opening)
			rest = after
			continue
		}
		b.WriteString(strings.TrimSuffix(before, "\n\n") + text)
		rest = strings.TrimPrefix(behind, "\n")
	}
}
