// Package patch reads diffs of git for people: one line where each file begins, and the files as a
// tree. It knows neither terminal nor agent. Begin with Read.
package patch

import (
	"path"
	"strings"

	"paw/config/display"
)

// File is one file of a patch.
type File struct {
	Name           string
	What           string // what has happened to the file beside its lines, such as "new"; "" for nothing
	Added, Deleted int
}

// Kind says what a line of a patch is.
type Kind int

// Kinds of lines.
const (
	Text Kind = iota
	Head      // where a file begins; it stands for all lines of the diff up to the next line
	Hunk
)

// Line is one line of a patch as it is shown.
type Line struct {
	Kind
	Text string // as in the diff, with its styles; "" for Head
	Raw  int    // number of the line in the diff, from 0
	File int    // index of the file, -1 before the first file
}

// Patch is a diff without the lines that only git apply reads.
type Patch struct {
	Files []File
	Lines []Line
}

// marks are the beginnings of lines between the head of a file and its first hunk. Those with a word
// are told by that word.
var marks = []struct{ begin, what string }{
	{"new file mode ", "new"}, {"deleted file mode ", "deleted"}, {"rename from ", "from "}, {"copy from ", "copy of "}, {"new mode ", "mode "},
	{"rename to ", ""}, {"copy to ", ""}, {"old mode ", ""}, {"similarity index ", ""}, {"dissimilarity index ", ""}, {"index ", ""}, {"--- ", ""}, {"+++ ", ""},
}

// Read reads a diff, with styles or without.
func Read(diff string) Patch {
	var p Patch
	inHunk, number := false, 0
	for styled := range strings.Lines(diff) {
		styled = strings.TrimRight(styled, "\r\n")
		plain := display.Strip(styled)
		line := Line{Text: styled, Raw: number, File: len(p.Files) - 1}
		number++
		switch {
		case strings.HasPrefix(plain, "diff --git "):
			_, name, _ := strings.Cut(plain, " b/")
			if name == "" { // of two agents: OLD/PATH NEW/PATH
				name = withoutPrefix(plain[strings.LastIndexByte(plain, ' ')+1:])
			}
			p.Files, inHunk = append(p.Files, File{Name: name}), false
			line.Kind, line.Text, line.File = Head, "", line.File+1
		case line.File < 0:
		case strings.HasPrefix(plain, "@@ "):
			line.Kind, inHunk = Hunk, true
		case inHunk:
			p.Files[line.File].count(plain)
		case p.Files[line.File].marked(plain):
			continue
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}

// withoutPrefix removes what stands in front of a path for one of the two sides, such as b/.
func withoutPrefix(name string) string { return name[strings.IndexByte(name, '/')+1:] }

func (f *File) count(line string) {
	switch {
	case strings.HasPrefix(line, "+"):
		f.Added++
	case strings.HasPrefix(line, "-"):
		f.Deleted++
	}
}

// marked takes a line before the first hunk, and reports whether that is one of marks.
func (f *File) marked(line string) bool {
	for _, mark := range marks {
		rest, found := strings.CutPrefix(line, mark.begin)
		if !found {
			continue
		}
		switch {
		case (mark.begin == "+++ " || mark.begin == "--- ") && rest != "/dev/null": // unambiguous, unlike the head when a name has blanks
			f.Name = strings.TrimSuffix(withoutPrefix(rest), "\t")
		case mark.begin == "rename to " || mark.begin == "copy to ":
			f.Name = rest
		case strings.HasSuffix(mark.what, " "):
			f.What = mark.what + rest
		case mark.what != "":
			f.What = mark.what
		}
		return true
	}
	return false
}

// Row is one row of a tree of files.
type Row struct {
	Name string // the folder with a slash, or the file's name in the folder above
	File int    // index of the file, -1 for a folder
}

// Tree returns the files below their folders, in the order of the patch.
func (p Patch) Tree() []Row {
	var rows []Row
	last := ""
	for i, f := range p.Files {
		folder, name := path.Split(f.Name)
		if folder != last {
			if folder != "" {
				rows = append(rows, Row{folder, -1})
			}
			last = folder
		}
		if folder != "" {
			name = "  " + name
		}
		rows = append(rows, Row{name, i})
	}
	return rows
}
