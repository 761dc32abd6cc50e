package ui

import (
	"fmt"
	"strings"

	"paw/config/display"
)

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
func (m Model) withFiles(patch string) string {
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
