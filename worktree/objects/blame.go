package objects

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/worktree/git"
)

// LineStep is one state of an agent in a line of states for Blame. The line need not follow git's
// history.
type LineStep struct {
	State string // id of a commit or a snapshot
	After []int  // indexes of the steps that this one follows, nearest first; none for a commit whose history is git's own
}

// LineCommit is the commit of a step.
type LineCommit struct {
	Commit string
	Head   string    // HEAD of the worktree
	At     time.Time // commit time of the state
}

// LineLanding describes a commit of a branch that was made from its previous tip and the state of a
// step.
type LineLanding struct {
	Before string
	State  int
}

// Line makes a commit for each step. The parents are the commits of the steps before and, if HEAD
// has moved since, HEAD, so that lines of commits that came in keep those commits. Line returns the
// commits and replacement parents (for BlameOptions.Parents) of commits that landed or were made
// between two steps. o must be made by Store.WithScratch.
func (o *Store) Line(ctx context.Context, steps []LineStep, landed map[string]LineLanding) (line []LineCommit, parents map[string][]string, err error) {
	states := make([]string, len(steps))
	for i, s := range steps {
		states[i] = s.State
	}
	if len(states) == 0 {
		return nil, map[string][]string{}, nil
	}
	read, err := o.States(ctx, states...)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]State{}
	for _, g := range read {
		known[g.Commit] = g
	}
	var made [][]byte
	var commits, heads []string
	g := lineGraph{parents: map[string][]string{}, instead: map[string][]string{}}
	for i, s := range steps {
		state := known[s.State]
		heads = append(heads, state.Head)
		if len(s.After) == 0 {
			commits = append(commits, s.State)
			continue
		}
		var from []string
		for _, p := range s.After {
			from = append(from, commits[p])
		}
		if s.moved(i, heads) {
			from = append(from, state.Head)
		}
		text := stepText(state.Tree, from, i)
		id, err := idOfObject(o.Repository.CommonDir, fmt.Appendf(nil, "commit %d\x00%s", len(text), text))
		if err != nil {
			return nil, nil, err
		}
		commits, made, g.parents[id] = append(commits, id), append(made, text), from
	}
	if err := o.keepSteps(ctx, made); err != nil {
		return nil, nil, err
	}
	if err := o.readHistory(ctx, &g, steps, heads); err != nil {
		return nil, nil, err
	}
	for after, of := range landed {
		g.land(after, of.Before, commits[of.State])
	}
	for i, s := range steps {
		if s.moved(i, heads) {
			g.between(heads[i], s.After, commits)
		}
	}
	for i, s := range steps {
		line = append(line, LineCommit{commits[i], heads[i], known[s.State].at})
	}
	return line, g.instead, nil
}

// moved reports whether HEAD at a step differs from HEAD at each step before it.
func (s LineStep) moved(i int, heads []string) bool {
	return len(s.After) > 0 && !slices.ContainsFunc(s.After, func(before int) bool { return heads[before] == heads[i] })
}

// lineGraph holds the parents of commits and steps. The graph must stay free of cycles, on which
// git does not end.
type lineGraph struct {
	parents map[string][]string // parents of each commit in git
	instead map[string][]string // parents that replace those
}

// readHistory reads the commits that HEAD has moved along, back to the common base of the first
// steps.
func (o *Store) readHistory(ctx context.Context, g *lineGraph, steps []LineStep, heads []string) error {
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
		common, err := o.mergeBase(ctx, append([]string{"--octopus", "--all"}, ends...)...)
		if err != nil {
			return err
		}
		ends = common
	}
	parents, err := o.parentsOf(ctx, heads, ends...)
	maps.Copy(g.parents, parents)
	return err
}

// land makes the step that landed a parent of the commit that was made by landing, and does nothing
// if the step already has the commit, which then was made in the worktree.
func (g *lineGraph) land(after, before, state string) {
	if g.parents[after] == nil || !g.reached(state)[after] {
		g.instead[after] = []string{before, state}
	}
}

// between makes the earlier step a parent of the commits that HEAD has moved along since:
// uncommitted files of that step did not come with these commits.
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

// of returns the parents of a commit, replaced ones first.
func (g *lineGraph) of(commit string) []string {
	if instead := g.instead[commit]; instead != nil {
		return instead
	}
	return g.parents[commit]
}

// reached returns the ancestors of some commits, with the commits.
func (g *lineGraph) reached(commits ...string) map[string]bool {
	return ancestors(g.of, commits)
}

// stepText returns the content of a step's commit object.
func stepText(tree string, parents []string, step int) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&text, "parent %s\n", parent)
	}
	signed := fmt.Sprintf("paw <%s> %d +0000", Email, time.Now().Unix()+int64(step)) // git blame visits the newest commit first.
	fmt.Fprintf(&text, "author %s\ncommitter %s\n\nstep %d\n", signed, signed, step)
	return text.Bytes()
}

// keepSteps writes commits into the folder of WithScratch, as one pack: hundreds of loose objects
// would take longer than everything else.
func (o *Store) keepSteps(ctx context.Context, commits [][]byte) error {
	if len(commits) == 0 {
		return nil
	}
	var pack bytes.Buffer
	pack.WriteString("PACK")
	_ = binary.Write(&pack, binary.BigEndian, [2]uint32{2, uint32(len(commits))})
	packer := zlib.NewWriter(&pack)
	for _, text := range commits {
		const isCommit = 1 << 4
		head := byte(isCommit | len(text)&15) // 4 bits of the size, then 7 in each further byte
		for rest := len(text) >> 4; rest > 0; rest >>= 7 {
			pack.WriteByte(head | 128)
			head = byte(rest & 127)
		}
		pack.WriteByte(head)
		packer.Reset(&pack)
		_, _ = packer.Write(text) // Writing to memory cannot fail.
		_ = packer.Close()
	}
	sum, err := newHash(o.Repository.CommonDir)
	if err != nil {
		return err
	}
	sum.Write(pack.Bytes())
	_, err = o.Home().Input(ctx, sum.Sum(pack.Bytes()), "-c", "core.fsync=none", "index-pack", "--stdin")
	return err
}

// BlameOptions selects what Blame reads.
type BlameOptions struct {
	Dir         string // checkout with the file to read; "" with a Commit
	Commit      string
	Path        string
	Lines       string // as for git blame -L, "" for all
	IgnoreSpace bool
	Parents     map[string][]string // replacement parents by commit
}

// BlamedLine is a line of a file with the commit that added it.
type BlamedLine struct {
	Line      int
	Text      string
	Commit    string // all zeros for an uncommitted line
	Author    string
	At        time.Time
	Committed time.Time // later than At after an amend, rebase or cherry-pick
}

// Blame finds the commits that added the lines of a file. o must be made by Store.WithScratch.
func (o *Store) Blame(ctx context.Context, b BlameOptions) ([]BlamedLine, error) {
	repo := o.Home()
	if b.Dir != "" {
		repo = o.withoutRefs(git.Repo{Dir: b.Dir}) // which may be a subfolder
	}
	var grafts strings.Builder
	for commit, parents := range b.Parents {
		fmt.Fprintln(&grafts, commit, strings.Join(parents, " "))
	}
	file := filepath.Join(o.scratch.dir, "grafts")
	if err := os.WriteFile(file, []byte(grafts.String()), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-c", "advice.graftFileDeprecated=false", "blame", "--porcelain", "--ignore-revs-file="} // "" forgets those of the configuration
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

// HasFile reports whether a commit has something at a path.
func (o *Store) HasFile(ctx context.Context, commit, path string) (bool, error) {
	out, err := o.Home().Output(ctx, "--literal-pathspecs", "ls-tree", "--full-tree", commit, "--", path)
	return out != "", err
}

// parseBlame parses git blame --porcelain, which prints a commit's facts only with the commit's
// first line.
func parseBlame(out string) []BlamedLine {
	type said struct {
		author        string
		at, committed time.Time
	}
	commits := map[string]*said{}
	lines := make([]BlamedLine, 0, strings.Count(out, "\n\t"))
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

// FirstParents returns the commits, without merges, on the first-parent line from to back to from.
func (o *Store) FirstParents(ctx context.Context, from, to string) (map[string]bool, error) {
	out, err := o.Home().Output(ctx, "rev-list", "--first-parent", "--no-merges", to, "^"+from, "--")
	found := map[string]bool{}
	for id := range strings.FieldsSeq(out) {
		found[id] = true
	}
	return found, err
}
