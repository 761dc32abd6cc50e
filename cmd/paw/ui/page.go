package ui

import (
	"fmt"
	"strconv"
	"strings"

	"paw/config/display"
)

// page is the output of a command about the selected agent: the turns, the diff or the log.
type page struct {
	of     string // the request: tab, agent, scope, and the agent's Mark
	number int    // number of the request; answers to earlier requests are dropped
	asked  bool
	state  State  // the snapshot that the diff shows
	raw    string // the output without styles
	lines  []string
	top    int
	cursor int  // line of the cursor
	marks  bool // the lines from anchor to cursor are marked
	anchor int
	height int // number of lines seen at the last move
	search string
	notes  []Comment // comments on the diff that were not sent
}

// allLines is larger than the number of lines of any text.
const allLines = 1 << 30

// scope says which changes the diff shows; the zero scope shows all since the base.
type scope struct {
	unseen bool // since the user last looked
	turn   int  // only the changes of this turn; 0 for no such limit
}

func (s scope) String() string {
	switch {
	case s.unseen:
		return "since you looked"
	case s.turn > 0:
		return fmt.Sprintf("turn %d", s.turn)
	}
	return "since its base"
}

// pageMsg carries the output of the command that a page asked for.
type pageMsg struct {
	number int
	text   string
	state  State
}

// notesMsg carries the comments on the page's diff.
type notesMsg struct {
	number int // number of the page
	notes  []Comment
}

// words returns the command that prints the diff.
func (s scope) words(a Agent) []string {
	switch {
	case s.unseen:
		return []string{"diff", a.Key(), "--unseen"}
	case s.turn > 0:
		return []string{"diff", fmt.Sprintf("%s@%d", a.Key(), s.turn)}
	}
	return []string{"diff", a.Key()}
}

// move moves the cursor by lines, and scrolls so that the cursor is seen.
func (p *page) move(by, height int) {
	p.height = height
	p.cursor = min(max(p.cursor+by, 0), max(len(p.lines)-1, 0))
	p.top = min(p.top, p.cursor)
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, len(p.lines)-height), 0)
}

// walk moves the cursor by a line or to an end, and scrolls for any other number of lines.
func (p *page) walk(by, height int) {
	switch by {
	case 0:
	case 1, -1, allLines, -allLines:
		p.move(by, height)
	default:
		p.scroll(by, height)
	}
}

// scroll scrolls by lines, and moves the cursor along.
func (p *page) scroll(by, height int) {
	p.height = height
	p.top = max(min(p.top+by, len(p.lines)-height), 0)
	p.cursor = min(max(p.cursor+by, p.top), max(min(p.top+height, len(p.lines))-1, 0))
}

// seek moves the cursor to the next line that is wanted, forwards with step 1 and backwards with
// -1, and reports whether there is one.
func (p *page) seek(step, height int, wanted func(line string) bool) bool {
	for i := p.cursor + step; i >= 0 && i < len(p.lines); i += step {
		if wanted(display.Strip(p.lines[i])) {
			p.jump(i, height)
			return true
		}
	}
	return false
}

// turnAtCursor returns the number of the turn at the cursor in the list of turns, else of the next
// one below; 0 for none.
func (p page) turnAtCursor() int {
	for _, line := range p.lines[min(p.cursor, len(p.lines)):] {
		first, _, _ := strings.Cut(strings.TrimSpace(display.Strip(line)), " ")
		if n, _ := strconv.Atoi(first); n > 0 {
			return n
		}
	}
	return 0
}

// jump moves the cursor to a line, with a quarter of the page above that line.
func (p *page) jump(to, height int) {
	p.cursor = to
	p.top = max(min(to-height/4, len(p.lines)-height), 0)
	p.move(0, height)
}

// marked returns the first and last marked line; without marks, the line of the cursor twice.
func (p page) marked() (first, last int) {
	if !p.marks {
		return p.cursor, p.cursor
	}
	return min(p.anchor, p.cursor), max(p.anchor, p.cursor)
}

// finds reports whether a line contains the text. Upper and lower case differ only if the text has
// upper case.
func finds(line, text string) bool {
	if strings.ToLower(text) == text {
		line = strings.ToLower(line)
	}
	return strings.Contains(line, text)
}

// beginsFile and beginsHunk report whether a line of a diff begins a file, or a hunk or file.
func beginsFile(line string) bool { return strings.HasPrefix(line, "diff --git ") }
func beginsHunk(line string) bool { return strings.HasPrefix(line, "@@ ") || beginsFile(line) }

// noteAt returns the first comment on a line.
func (p page) noteAt(line int) (Comment, bool) {
	for _, c := range p.notes {
		if c.Line == line {
			return c, true
		}
	}
	return Comment{}, false
}

// changedFile is one file of a patch, with the number of added and deleted lines.
type changedFile struct {
	name           string
	added, deleted int
}

// changedFiles lists the files of a patch without styles, in the order of the patch.
func changedFiles(patch string) []changedFile {
	var files []changedFile
	inHunk := false
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if beginsFile(line) {
			_, name, _ := strings.Cut(line, " b/")
			files, inHunk = append(files, changedFile{name: name}), false
			continue
		}
		if len(files) == 0 {
			continue
		}
		one := &files[len(files)-1]
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			one.added++
		case inHunk && strings.HasPrefix(line, "-"):
			one.deleted++
		case !inHunk && strings.HasPrefix(line, "+++ b/"): // unambiguous, unlike the "diff --git" line when a name contains " b/"
			one.name = strings.TrimSuffix(line[len("+++ b/"):], "\t")
		case !inHunk && strings.HasPrefix(line, "rename to "):
			one.name = line[len("rename to "):]
		}
	}
	return files
}

// withoutIndex removes the "index" lines of a patch, which only git apply reads.
func withoutIndex(patch string) string {
	var out strings.Builder
	for line := range strings.Lines(patch) {
		if !strings.HasPrefix(display.Strip(line), "index ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// longestFileName limits the columns that a file name takes in the list of files.
const longestFileName = 60

// withFiles puts a list of the files before a patch of several files. A line of the list belongs to
// no file, so a comment on such a line is about the whole patch.
func (m *Model) withFiles(patch string) string {
	files := changedFiles(display.Strip(patch))
	if len(files) < 2 {
		return patch
	}
	var list strings.Builder
	width, added, deleted := 0, 0, 0
	for _, f := range files {
		width = min(max(width, m.Width(f.name)), longestFileName)
		added, deleted = added+f.added, deleted+f.deleted
	}
	fmt.Fprintf(&list, "%s\n", m.paint(fmt.Sprintf("%d files, +%d -%d", len(files), added, deleted), bold))
	for _, f := range files {
		fmt.Fprintf(&list, "  %s  %s %s\n", m.Fill(f.name, width), m.paint(fmt.Sprintf("+%d", f.added), green), m.paint(fmt.Sprintf("-%d", f.deleted), red))
	}
	return list.String() + "\n" + patch
}

// fileUnderCursor returns the line where the file begins whose name in the list of files has the
// cursor, -1 for none.
func (p page) fileUnderCursor() int {
	want := p.cursor - 1 // the list follows a line with the number of files
	for i, line := range p.lines {
		if !beginsFile(display.Strip(line)) {
			continue
		}
		if i <= p.cursor { // the cursor is below the list, in the patch
			return -1
		}
		if want--; want < 0 && p.cursor > 0 {
			return i
		}
	}
	return -1
}
