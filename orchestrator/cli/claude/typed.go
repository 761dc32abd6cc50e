package claude

import (
	"strings"
	"unicode"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
)

// Literal: a space makes text of "!" and of nothing else.
func (c driver) Literal(prompt string) (string, error) {
	text := prompt
	if strings.HasPrefix(withoutInvisible(prompt), "!") {
		text = " " + prompt
	}
	return text, c.checkOwn(prompt)
}

// checkOwn refuses what claude takes for itself. It trims a prompt and drops characters that nobody sees before it looks,
// so that nothing makes text of it.
func (c driver) checkOwn(prompt string) error {
	seen := withoutInvisible(prompt)
	if err := prompts.CheckWord(c.Name(), seen, prompts.Exits...); err != nil {
		return err
	}
	return prompts.CheckCommand(c.Name(), seen)
}

// withoutInvisible is a text without format characters, such as marks of direction, which claude drops.
func withoutInvisible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// What claude folds into a place such as "[Pasted text #1 +9 lines]": a paste of more than 800 characters, or of more
// lines than two that also leave ten rows of the pane. It tells its model of each place that the text may not be the
// user's, and hands it over in marks (see pasted).
const (
	folds     = 800
	foldLines = 2
	foldRows  = 10
)

// imageNames ends the name of a file that claude attaches as an image, if a paste has the whole of it.
var imageNames = lazyregexp.New(`(?i)\.(png|jpe?g|gif|webp|bmp)\b`)

// Pastes are small enough to be taken for what the user wrote. In a low pane a single line break is too much, and the key
// for one that comes between pastes is out of step with them in 2.1.197: there a text of several lines is one paste, which
// arrives as it is, in marks.
func (driver) Pastes(text string, rows int) []string {
	breaks := min(foldLines, rows-foldRows)
	if breaks < 1 && strings.Contains(text, "\n") {
		return []string{text}
	}
	var pastes []string
	images := imageNames.FindAllStringIndex(text, -1)
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

// Canonical: a tab becomes four spaces in claude's input box, and characters that nobody sees are dropped there.
func (driver) Canonical(prompt string) string {
	return cli.Trimmed(strings.ReplaceAll(withoutInvisible(pasted(prompt)), "\t", "    "))
}

// pasted is a prompt without the marks that claude puts around what was pasted: two line feeds, a line with an
// opening tag, the text, and a line with a closing tag of the same id of four hexadecimal digits.
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
