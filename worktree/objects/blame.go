package objects

import (
	"context"
	"strconv"
	"strings"
	"time"

	"paw/worktree/git"
)

// BlameOptions selects what Blame reads.
type BlameOptions struct {
	Dir         string // checkout with the file to read; "" with a Commit
	Commit      string
	Path        string
	Lines       string // as for git blame -L, "" for all
	IgnoreSpace bool
}

// BlamedLine is a line of a file with the commit that added it.
type BlamedLine struct {
	Line   int
	Text   string
	Commit string // all zeros for an uncommitted line
	Author string
	At     time.Time
	Own    string // subject of a commit that paw made for itself, "" for other commits
}

// Blame finds the commits that added the lines of a file.
func (o *Store) Blame(ctx context.Context, b BlameOptions) ([]BlamedLine, error) {
	repo := o.Home()
	if b.Dir != "" {
		repo = o.withoutRefs(git.Repo{Dir: b.Dir}) // which may be a subfolder
	}
	args := []string{"blame", "--porcelain", "--ignore-revs-file="} // "" forgets those of the configuration
	if b.IgnoreSpace {
		args = append(args, "-w")
	}
	if b.Lines != "" {
		args = append(args, "-L", b.Lines)
	}
	if b.Commit != "" {
		args = append(args, b.Commit)
	}
	out, err := repo.Output(ctx, append(args, "--", b.Path)...)
	if err != nil {
		return nil, err
	}
	return parseBlame(out), nil
}

// HasFile reports whether a commit has something at a path.
func (o *Store) HasFile(ctx context.Context, commit, path string) (bool, error) {
	out, err := o.Home().Output(ctx, "--literal-pathspecs", "ls-tree", "--full-tree", commit, "--", path)
	return out != "", err
}

// parseBlame parses git blame --porcelain, which prints a commit's facts only with the commit's
// first line.
func parseBlame(out string) []BlamedLine {
	commits := map[string]*BlamedLine{}
	lines := make([]BlamedLine, 0, strings.Count(out, "\n\t"))
	var of *BlamedLine // facts of the commit of the present line
	number, email := 0, ""
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if text, isText := strings.CutPrefix(line, "\t"); isText {
			one := *of
			one.Line, one.Text = number, text
			lines, of = append(lines, one), nil
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case of == nil:
			if fields := strings.Fields(rest); len(fields) > 1 {
				number, _ = strconv.Atoi(fields[1])
			}
			if of = commits[word]; of == nil {
				of = &BlamedLine{Commit: word}
				commits[word] = of
			}
		case word == "author":
			of.Author = rest
		case word == "author-mail":
			email = rest
		case word == "author-time":
			seconds, _ := strconv.ParseInt(rest, 10, 64)
			of.At = time.Unix(seconds, 0).UTC()
		case word == "summary" && email == "<"+Email+">":
			of.Own = rest
		}
	}
	return lines
}
