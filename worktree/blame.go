package worktree

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/worktree/git"
)

// LineStep is a state on a line of states that Blame follows, whatever git knows of their order.
type LineStep struct {
	State string // commit, which may be a snapshot
	After []int  // the steps that it came from, the nearest one first; none for a commit that git's own history goes on from
}

// LineLanding is a commit of a branch that was made of what it had before, and of a step.
type LineLanding struct {
	Before string
	State  int
}

// Line makes a commit for each step, with the steps that it came from as parents and, where HEAD has moved in between, HEAD as a
// further one: commits that came in keep their lines. It returns them, with HEAD at each step, and the parents that count instead
// of their own for commits that were made between two steps or landed. Objects has to be a reader.
func (o Objects) Line(ctx context.Context, steps []LineStep, landed map[string]LineLanding) (commits, heads []string, parents map[string][]string, err error) {
	states := make([]string, len(steps))
	for i, s := range steps {
		states[i] = s.State
	}
	if len(states) == 0 {
		return nil, nil, map[string][]string{}, nil
	}
	read, err := o.goals(ctx, states...)
	if err != nil {
		return nil, nil, nil, err
	}
	known := map[string]goal{}
	for _, g := range read {
		known[g.commit] = g
	}
	var made [][]byte
	g := lineGraph{parents: map[string][]string{}, instead: map[string][]string{}}
	for i, s := range steps {
		state := known[s.State]
		heads = append(heads, state.head)
		if len(s.After) == 0 {
			commits = append(commits, s.State)
			continue
		}
		var from []string
		for _, p := range s.After {
			from = append(from, commits[p])
		}
		if s.moved(i, heads) {
			from = append(from, state.head)
		}
		text := stepText(state.tree, from, i)
		id, err := idOfObject(o.Repository.CommonDir, fmt.Appendf(nil, "commit %d\x00%s", len(text), text))
		if err != nil {
			return nil, nil, nil, err
		}
		commits, made, g.parents[id] = append(commits, id), append(made, text), from
	}
	if err := o.keepSteps(ctx, made); err != nil {
		return nil, nil, nil, err
	}
	if err := o.readHistory(ctx, &g, steps, heads); err != nil {
		return nil, nil, nil, err
	}
	for after, of := range landed {
		g.land(after, of.Before, commits[of.State])
	}
	for i, s := range steps {
		if s.moved(i, heads) {
			g.between(heads[i], s.After, commits)
		}
	}
	return commits, heads, g.instead, nil
}

// moved reports whether HEAD is at a step where it was at none of those that the step came from.
func (s LineStep) moved(i int, heads []string) bool {
	return len(s.After) > 0 && !slices.ContainsFunc(s.After, func(before int) bool { return heads[before] == heads[i] })
}

// lineGraph is what commits and steps come from. Git does not end where a commit comes from itself.
type lineGraph struct {
	parents map[string][]string // as git knows them
	instead map[string][]string // those that count instead
}

// readHistory reads what HEAD has moved along, back to where all that the steps began with comes from.
func (o Objects) readHistory(ctx context.Context, g *lineGraph, steps []LineStep, heads []string) error {
	moves, ends := false, []string{}
	for i, s := range steps {
		moves = moves || s.moved(i, heads)
		if len(s.After) == 0 && !slices.Contains(ends, heads[i]) {
			ends = append(ends, heads[i])
		}
	}
	if !moves {
		return nil
	}
	if len(ends) > 1 {
		common, err := o.home().Output(ctx, append([]string{"merge-base", "--octopus", "--all"}, ends...)...)
		if err != nil && git.ExitCode(err) != 1 { // 1 says that they have nothing in common
			return err
		}
		ends = strings.Fields(common)
	}
	asked := strings.Join(heads, "\n") + "\n"
	for _, end := range ends {
		asked += "^" + end + "\n"
	}
	out, err := o.home().Input(ctx, []byte(asked), "rev-list", "--parents", "--stdin")
	for line := range strings.Lines(out) {
		ids := strings.Fields(line)
		g.parents[ids[0]] = ids[1:]
	}
	return err
}

// land gives a commit the step that landed as a parent, unless that step has the commit: it was made in the worktree.
func (g *lineGraph) land(after, before, state string) {
	if g.parents[after] == nil || !g.reached(state)[after] {
		g.instead[after] = []string{before, state}
	}
}

// between gives the commits that HEAD has moved along between two steps the earlier step as a parent: what was there and not
// committed did not come with them.
func (g *lineGraph) between(head string, after []int, commits []string) {
	var before []string
	for _, p := range after {
		before = append(before, commits[p])
	}
	there := g.reached(before...)
	for at := head; !there[at] && len(g.parents[at]) > 0; at = g.parents[at][0] {
		g.instead[at] = append(slices.Clone(before), g.of(at)...)
	}
}

// of are the parents of a commit that count.
func (g *lineGraph) of(commit string) []string {
	if instead := g.instead[commit]; instead != nil {
		return instead
	}
	return g.parents[commit]
}

// reached are some commits with all that they come from.
func (g *lineGraph) reached(commits ...string) map[string]bool {
	found := map[string]bool{}
	for todo := slices.Clone(commits); len(todo) > 0; {
		at := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !found[at] {
			found[at] = true
			todo = append(todo, g.of(at)...)
		}
	}
	return found
}

// stepText is the commit of a step.
func stepText(tree string, parents []string, step int) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&text, "parent %s\n", parent)
	}
	signed := fmt.Sprintf("paw <%s> %d +0000", snapshotEmail, time.Now().Unix()+int64(step)) // git looks at the newest first
	fmt.Fprintf(&text, "author %s\ncommitter %s\n\nstep %d\n", signed, signed, step)
	return text.Bytes()
}

// keepSteps writes commits into the folder of a reader: as one pack, since hundreds of files take longer than all else.
func (o Objects) keepSteps(ctx context.Context, commits [][]byte) error {
	if len(commits) == 0 {
		return nil
	}
	var pack bytes.Buffer
	pack.WriteString("PACK")
	_ = binary.Write(&pack, binary.BigEndian, [2]uint32{2, uint32(len(commits))})
	packer := zlib.NewWriter(&pack)
	for _, text := range commits {
		const isCommit = 1 << 4
		head := byte(isCommit | len(text)&15) // of the size 4 bits, then 7 at a time
		for rest := len(text) >> 4; rest > 0; rest >>= 7 {
			pack.WriteByte(head | 128)
			head = byte(rest & 127)
		}
		pack.WriteByte(head)
		packer.Reset(&pack)
		_, _ = packer.Write(text) // into memory
		_ = packer.Close()
	}
	sum, err := newHash(o.Repository.CommonDir)
	if err != nil {
		return err
	}
	sum.Write(pack.Bytes())
	_, err = o.home().Input(ctx, sum.Sum(pack.Bytes()), "-c", "core.fsync=none", "index-pack", "--stdin")
	return err
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
	Line      int
	Text      string
	Commit    string // all zeros for what is not committed
	Author    string
	At        time.Time
	Committed time.Time // later than At for what was amended, rebased or picked
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
		author        string
		at, committed time.Time
	}
	commits := map[string]*said{}
	var lines []BlamedLine
	var now BlamedLine
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if text, isText := strings.CutPrefix(line, "\t"); isText {
			of := commits[now.Commit]
			now.Text, now.Author, now.At, now.Committed = text, of.author, of.at, of.committed
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
			commits[now.Commit].at = unixTime(rest)
		case word == "committer-time":
			commits[now.Commit].committed = unixTime(rest)
		}
	}
	return lines
}

func unixTime(seconds string) time.Time {
	n, _ := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(n, 0).UTC()
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
