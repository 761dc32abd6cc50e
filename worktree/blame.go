package worktree

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LineStep is a state on a line of states that Blame follows, whatever git knows of their order.
type LineStep struct {
	State string // commit, which may be a snapshot
	After []int  // the steps that it came from, the nearest one first; none for a commit that git's own history goes on from
}

// Line makes a commit for each step, with the steps that it came from as parents and, where HEAD has moved in between, HEAD as a
// further one: commits that came in keep their lines. It returns them, with HEAD at each step, and the parents that count instead
// of their own for commits that were made between two steps. Objects has to be a reader.
func (o Objects) Line(ctx context.Context, steps []LineStep) (commits, heads []string, parents map[string][]string, err error) {
	states := make([]string, len(steps))
	for i, s := range steps {
		states[i] = s.State
	}
	if len(states) == 0 {
		return nil, nil, nil, nil
	}
	read, err := o.goals(ctx, states...)
	if err != nil {
		return nil, nil, nil, err
	}
	known := map[string]goal{}
	for _, g := range read {
		known[g.commit] = g
	}
	for i, s := range steps {
		g := known[s.State]
		heads = append(heads, g.head)
		if len(s.After) == 0 {
			commits = append(commits, s.State)
			continue
		}
		var from []string
		for _, p := range s.After {
			from = append(from, commits[p])
		}
		if s.moved(i, heads) {
			from = append(from, g.head)
		}
		id, err := o.stepCommit(g.tree, from, i)
		if err != nil {
			return nil, nil, nil, err
		}
		commits = append(commits, id)
	}
	parents, err = o.betweenSteps(ctx, steps, commits, heads)
	return commits, heads, parents, err
}

// moved reports whether HEAD is at a step where it was at none of those that the step came from.
func (s LineStep) moved(i int, heads []string) bool {
	return len(s.After) > 0 && !slices.ContainsFunc(s.After, func(before int) bool { return heads[before] == heads[i] })
}

// betweenSteps gives the commits that HEAD has moved along between two steps the earlier step as a parent: what was there and not
// committed did not come with them. Each commit has the first step before which it came, so that nothing comes from itself.
func (o Objects) betweenSteps(ctx context.Context, steps []LineStep, commits, heads []string) (map[string][]string, error) {
	moves, ends := false, []string{}
	for i, s := range steps {
		moves = moves || s.moved(i, heads)
		if len(s.After) == 0 {
			ends = append(ends, "^"+heads[i])
		}
	}
	found := map[string][]string{}
	if !moves {
		return found, nil
	}
	out, err := o.home().Input(ctx, []byte(strings.Join(append(slices.Clone(heads), ends...), "\n")+"\n"), "rev-list", "--parents", "--stdin")
	if err != nil {
		return nil, err
	}
	own := map[string][]string{}
	for line := range strings.Lines(out) {
		ids := strings.Fields(line)
		own[ids[0]] = ids[1:]
	}
	reached := map[string]bool{}
	for i, s := range steps {
		for at := heads[i]; s.moved(i, heads) && len(own[at]) > 0 && !reached[at]; at = own[at][0] {
			for _, before := range s.After {
				found[at] = append(found[at], commits[before])
			}
			found[at] = append(found[at], own[at]...)
		}
		for todo := []string{heads[i]}; len(todo) > 0; {
			at := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; !reached[at] {
				reached[at] = true
				todo = append(todo, own[at]...)
			}
		}
	}
	return found, nil
}

// stepCommit writes a commit into the folder of a reader, without a git for each of hundreds.
func (o Objects) stepCommit(tree string, parents []string, step int) (id string, err error) {
	var text strings.Builder
	fmt.Fprintf(&text, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&text, "parent %s\n", parent)
	}
	signed := fmt.Sprintf("paw <%s> %d +0000", snapshotEmail, time.Now().Unix()+int64(step)) // git looks at the newest first
	fmt.Fprintf(&text, "author %s\ncommitter %s\n\nstep %d\n", signed, signed, step)
	whole := fmt.Appendf(nil, "commit %d\x00%s", text.Len(), text.String())
	if id, err = idOfObject(o.Repository.CommonDir, whole); err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err = w.Write(whole); err == nil {
		err = w.Close()
	}
	file := filepath.Join(o.scratch.dir, id[:2], id[2:])
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, packed.Bytes(), 0o444)
	}
	return id, err
}

// BlameOptions selects what Blame looks at.
type BlameOptions struct {
	Dir         string // checkout, for the file as it is there; "" with a Commit
	Commit      string
	Path        string
	Lines       string // as git blame -L takes them, "" for all
	IgnoreSpace bool
	Parents     map[string][]string // of commits whose own parents do not count
}

// BlamedLine is a line of a file with the commit that it came with.
type BlamedLine struct {
	Line   int
	Text   string
	Commit string // all zeros for what is not committed
	Author string
	At     time.Time
}

// Blame finds out with which commits the lines of a file came. Objects has to be a reader.
func (o Objects) Blame(ctx context.Context, b BlameOptions) ([]BlamedLine, error) {
	repo := o.home()
	if b.Dir != "" {
		repo = o.withoutRefs(in(b.Dir))
	}
	var grafts strings.Builder
	for commit, parents := range b.Parents {
		fmt.Fprintln(&grafts, commit, strings.Join(parents, " "))
	}
	file := filepath.Join(o.scratch.dir, "grafts")
	if err := os.WriteFile(file, []byte(grafts.String()), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-c", "advice.graftFileDeprecated=false", "-c", "blame.ignoreRevsFile=", "blame", "--porcelain"}
	if b.IgnoreSpace {
		args = append(args, "-w")
	}
	if b.Lines != "" {
		args = append(args, "-L", b.Lines)
	}
	if b.Commit != "" {
		args = append(args, b.Commit)
	}
	out, err := repo.WithEnv("GIT_GRAFT_FILE="+file).Output(ctx, append(args, "--", b.Path)...)
	if err != nil {
		return nil, err
	}
	return parseBlame(out), nil
}

// parseBlame reads what git blame --porcelain writes: what is said of a commit comes with its first line alone.
func parseBlame(out string) []BlamedLine {
	type said struct {
		author string
		at     time.Time
	}
	commits := map[string]*said{}
	var lines []BlamedLine
	var now BlamedLine
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if text, isText := strings.CutPrefix(line, "\t"); isText {
			of := commits[now.Commit]
			now.Text, now.Author, now.At = text, of.author, of.at
			lines = append(lines, now)
			now = BlamedLine{}
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case now.Commit == "":
			now.Commit = word
			if fields := strings.Fields(rest); len(fields) > 1 {
				now.Line, _ = strconv.Atoi(fields[1])
			}
			if commits[word] == nil {
				commits[word] = &said{}
			}
		case word == "author":
			commits[now.Commit].author = rest
		case word == "author-time":
			seconds, _ := strconv.ParseInt(rest, 10, 64)
			commits[now.Commit].at = time.Unix(seconds, 0).UTC()
		}
	}
	return lines
}

// FirstParents are the commits without merges on the line from one commit back to another, where people and agents commit.
func (o Objects) FirstParents(ctx context.Context, from, to string) (map[string]bool, error) {
	out, err := o.home().Output(ctx, "rev-list", "--first-parent", "--no-merges", to, "^"+from, "--")
	found := map[string]bool{}
	for id := range strings.FieldsSeq(out) {
		found[id] = true
	}
	return found, err
}
