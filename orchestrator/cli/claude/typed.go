package claude

import (
	"strings"
	"unicode"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
)

// Literal puts a space before a prompt that begins with "!", which claude would hand to a shell. It
// helps for no other command.
func (c driver) Literal(prompt string) (string, error) {
	text := prompt
	if strings.HasPrefix(withoutInvisible(prompt), "!") {
		text = " " + prompt
	}
	return text, c.checkOwn(prompt)
}

// checkOwn refuses prompts that claude would run as commands of its own. claude trims a prompt and
// drops invisible characters first, so that no prefix can prevent it.
func (c driver) checkOwn(prompt string) error {
	seen := withoutInvisible(prompt)
	if err := prompts.CheckWord(c.Name(), seen, prompts.Exits...); err != nil {
		return err
	}
	return prompts.CheckCommand(c.Name(), seen)
}

// withoutInvisible removes format characters, such as marks of direction, as claude does.
func withoutInvisible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
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

// Canonical replaces tabs by four spaces and drops invisible characters, as claude's input box
// does.
func (driver) Canonical(prompt string) string {
	return cli.Trimmed(strings.ReplaceAll(withoutInvisible(pasted(prompt)), "\t", "    "))
}

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
