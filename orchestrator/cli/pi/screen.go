package pi

import (
	"slices"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/screens"
)

var (
	rule     = lazyregexp.New(`^─.*─$`) // may name what pi does
	works    = lazyregexp.New(`^─+ \S Working ─`)
	places   = lazyregexp.New(`\[paste #\d+ `)
	picks    = lazyregexp.New(`^ *↑↓ navigate +enter select`)
	scrolled = lazyregexp.New(`^\(\d+/\d+\)$`) // more than the pane has room for
	menu     = lazyregexp.New(`(?im)^ *Resume Session \(|^ +\(\d+/\d+\)$|\benter( to|/space to)? (select|submit|change)\b|\bescape(/ctrl\+c)?( to)? (cancel|close|back)\b`)
)

// framed returns the rows between the last two lines over the whole width, and the upper one of these lines. pi draws its
// input box so, and in its place a dialog or a menu.
func framed(s cli.Screenshot) (upper string, rows []screens.Row) {
	s, all := screens.Main(s)
	isRule := func(r screens.Row) bool { return len(r) == s.Width && rule().MatchString(r.String()) }
	bottom := len(all) - 1
	for bottom >= 0 && !isRule(all[bottom]) {
		bottom--
	}
	for top := bottom - 1; top >= 0; top-- {
		if isRule(all[top]) {
			return all[top].String(), all[top+1 : bottom]
		}
	}
	return "", nil
}

// Screen recognizes the input box, which has no mark and no placeholder. pi draws its cursor itself.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	upper, rows := framed(s)
	text := screens.TextOf(rows)
	switch {
	case len(rows) == 0:
		return cli.Screen{}
	case menu().MatchString(text):
		seen := cli.Screen{Dialog: "a menu is open"}
		if title, options := pickable(rows); options != nil { // the arrow keys select and Enter takes an option
			seen = cli.Screen{Dialog: title, Question: &cli.Question{Text: title, Options: options, Outside: title == trusts}}
		}
		return seen
	}
	seen := cli.Screen{Box: cli.BoxEmpty}
	switch {
	case strings.HasPrefix(text, "!"): // the shell gets what is typed
		seen = cli.Screen{Box: cli.BoxFilled}
	case strings.TrimSpace(text) != "":
		seen = screens.Filled(rows, 0, s.Width-2, places)
	}
	seen.Works = works().MatchString(upper)
	return seen
}

// pickable returns the title and the options of a dialog with a list; no options where they cannot be read as a whole. The
// list stands between two empty rows.
func pickable(rows []screens.Row) (title string, options []cli.Option) {
	end := slices.IndexFunc(rows, func(r screens.Row) bool { return picks().MatchString(r.String()) }) - 1
	selected := 0
	at := end - 1
	for ; at >= 0 && len(rows[at]) > 0; at-- {
		label, marked := strings.CutPrefix(strings.TrimSpace(rows[at].String()), "→ ")
		if marked {
			selected++
		}
		options = append([]cli.Option{{Label: strings.TrimSpace(label), Selected: marked}}, options...)
	}
	if end < 1 || selected != 1 || len(options) < 2 || scrolled().MatchString(options[len(options)-1].Label) {
		return "", nil
	}
	if title = questions.Title(strings.Join(strings.Fields(screens.TextOf(rows[:at+1])), " ")); strings.HasPrefix(title, "Trust project folder?") {
		title = trusts
	}
	return title, options
}

// trusts stands for pi's own question about a folder with a .pi.
const trusts = "asks whether to trust the folder"
