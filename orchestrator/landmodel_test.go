package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// The model of landings is no engine: it does not know what a landing makes of main. It remembers who wrote what, and which of these writes
// the history of each commit has, and holds what paw does against sentences (landmodel_says_test.go).
//
// What can be written is named by keys: a file of one party ("a/0", whole), or a slot of a file that all share ("s/0 a 1"), with enough lines
// between slots that git never takes two for one change. A file tells its name itself, so that it is known wherever it was renamed to.

var (
	modelParties = []string{"a", "b", "c", "u"} // three agents and the user
	modelShared  = []string{"s/0", "s/1"}
)

const modelSlots, modelOwn = 2, 4

func keysOf(party string) (keys []string) {
	for i := range modelOwn {
		keys = append(keys, fmt.Sprintf("%s/%d", party, i))
	}
	for _, file := range modelShared {
		for i := range modelSlots {
			keys = append(keys, fmt.Sprintf("%s %s %d", file, party, i))
		}
	}
	return keys
}

func fileOf(key string) string { file, _, _ := strings.Cut(key, " "); return file }

// partyOf is whose key it is.
func partyOf(key string) string {
	if _, slot, shared := strings.Cut(key, " "); shared {
		return slot[:1]
	}
	return key[:1]
}

// textOf is a file with the values of its keys. Files that are alike have the same lines but for their name and their value.
func textOf(file string, values map[string]string, alike bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "file %s\n", file)
	filler := func(of string, n int) {
		if alike && !slices.Contains(modelShared, file) {
			of = "licence"
		}
		for i := range n {
			fmt.Fprintf(&text, "---- %s, %d\n", of, i)
		}
	}
	if !slices.Contains(modelShared, file) {
		filler(file, 12)
		return text.String() + "value " + values[file] + "\n"
	}
	for _, party := range modelParties {
		for i := range modelSlots {
			key := fmt.Sprintf("%s %s %d", file, party, i)
			filler(key, 5)
			if values[key] != "" {
				fmt.Fprintf(&text, "%s = %s\n", key, values[key])
			}
		}
	}
	filler(file+" end", 5)
	return text.String()
}

// files is what a worktree or a commit has, by path.
type files map[string]string

// read reads a text: its name and the values of its keys.
func read(text string, into map[string]string) (file string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "file "); ok {
			file = name
		} else if value, ok := strings.CutPrefix(line, "value "); ok {
			into[file] += value
		} else if key, value, ok := strings.Cut(line, " = "); ok {
			into[key] += value
		}
	}
	return file
}

// values are the values of all keys. A file that is there twice has both values.
func (f files) values() map[string]string {
	values := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		read(f[path], values)
	}
	return values
}

// places are the paths of all files by name. A file that is there twice has no place.
func (f files) places() map[string]string {
	places := map[string]string{}
	for path, text := range f {
		name := read(text, map[string]string{})
		if _, twice := places[name]; twice {
			path = ""
		}
		places[name] = path
	}
	return places
}

// renamed are the files that have another path in the other, by path.
func (f files) renamed(other files) map[string]string {
	renamed, places := map[string]string{}, other.places()
	for file, path := range f.places() {
		if now := places[file]; now != "" && path != "" && now != path {
			renamed[path] = file
		}
	}
	return renamed
}

// differ are the keys whose values differ.
func differ(one, other map[string]string) (keys []string) {
	for key := range one {
		if one[key] != other[key] {
			keys = append(keys, key)
		}
	}
	for key := range other {
		if _, there := one[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// write is something that somebody wrote; with an empty value it was removed.
type write struct {
	value, by string
}

// state is what an agent has at one moment: its files, and its own writes that led there, oldest first. Got are the commits of main that came
// to it; kept, the writes that it kept where it merged main itself, and main had something else; foreign, that it has commits of origin/main
// which main has not.
type state struct {
	files   files
	writes  map[string][]int
	got     []string
	kept    map[int]bool
	renames map[string]bool
	foreign bool
}

func (s state) clone() state {
	writes := map[string][]int{}
	for key, ids := range s.writes {
		writes[key] = slices.Clone(ids)
	}
	return state{maps.Clone(s.files), writes, slices.Clone(s.got), maps.Clone(s.kept), maps.Clone(s.renames), s.foreign}
}

// known is how a history has a write.
type known int

const (
	unknown known = iota
	perhaps       // by hand, or in a commit that was made anew: paw may know it or not
	asIs          // by a landing whose commits cannot be found again once they are made anew
	surely        // by a landing as one commit, which is found by its message
)

// past is what the history of a commit has.
type past struct {
	writes  map[int]known
	out     map[int]string  // writes that git revert has taken out, with the value after it
	touched map[string]bool // keys of an agent that somebody else has written in main
	renamed bool            // whether a file or a folder was renamed
}

// and is the past of a commit that comes from both.
func (p past) and(q past) past {
	all := past{map[int]known{}, map[int]string{}, map[string]bool{}, p.renamed || q.renamed}
	for _, one := range []past{p, q} {
		for id, how := range one.writes {
			all.writes[id] = max(all.writes[id], how)
		}
		maps.Copy(all.out, one.out)
		maps.Copy(all.touched, one.touched)
	}
	return all
}

// with is the past of a commit that brings the writes of a state.
func (p past) with(s state, how known) past {
	p = p.and(past{})
	for _, ids := range s.writes {
		for _, id := range ids {
			p.writes[id] = max(p.writes[id], how)
		}
	}
	return p
}

// anew is the past of a commit whose history since another one was made anew.
func (p past) anew(since past, messagesKept bool) past {
	p = p.and(past{})
	for id, how := range p.writes {
		if since.writes[id] < how && (how != surely || !messagesKept) {
			p.writes[id] = perhaps
		}
	}
	if !messagesKept {
		p.out = maps.Clone(since.out)
	}
	return p
}

type modelAgent struct {
	name  string
	now   state
	taken state // the last one that paw has taken
	turns []state
	undo  *state // what rewind --undo goes back to, nil where that is not known

	committed map[int]bool      // writes that a commit of its worktree has
	brought   map[string]string // values that a merge or a rebase has brought since taken
}

// take is paw taking the state: what the agent has done since the last one is one step, and what ends it as it was is no work. What a commit
// has of it the user may bring to main: whether what follows is work then is open.
func (a *modelAgent) take() {
	was, is := a.taken.files.values(), a.now.files.values()
	maps.Copy(was, a.brought) // what it took out of that is work
	clear(a.brought)
	for key, ids := range a.now.writes {
		before := a.taken.writes[key]
		switch {
		case len(ids) == len(before):
		case was[key] != is[key]:
			a.now.writes[key] = append(slices.Clone(before), ids[len(ids)-1])
		case slices.ContainsFunc(ids[len(before):], func(id int) bool { return a.committed[id] }):
			a.now.writes[key], a.now.kept[ids[len(ids)-1]] = append(slices.Clone(before), ids[len(ids)-1]), true
		case len(before) == 0:
			delete(a.now.writes, key)
		default:
			a.now.writes[key] = slices.Clone(before)
		}
	}
	a.taken = a.now.clone()
}

// landModel is one world with its model.
type landModel struct {
	t       testing.TB
	h       *app.App
	s       *session.Session
	repo    string
	alike   bool // all new files are alike
	agents  map[string]*modelAgent
	pasts   map[string]past  // of commits
	landed  map[string]state // what a landing has brought, by the commit behind it
	writes  []write          // all, by number; the first is none
	ids     map[string]int   // of writes, by value
	parties map[string]string
	count   int
	said    []string // steps, for people

	anew bool // an agent has made commits anew, and these take back what main has got
}

func newLandModel(t testing.TB, dir string) *landModel {
	t.Helper()
	m := &landModel{
		t: t, repo: filepath.Join(dir, "repo"), agents: map[string]*modelAgent{}, pasts: map[string]past{}, landed: map[string]state{},
		writes: make([]write, 1), ids: map[string]int{}, parties: map[string]string{},
	}
	m.git("", "init", "-q", "-b", "main", m.repo)
	config, err := os.OpenFile(filepath.Join(m.repo, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = config.WriteString(modelConfig)
	}
	if err = errors.Join(err, config.Close()); err != nil {
		t.Fatal(err)
	}
	for _, file := range modelShared {
		m.put(m.repo, file, textOf(file, nil, false))
	}
	base := m.commit(m.repo, "first")
	m.pasts[base] = past{}
	m.h = modelHome(dir)
	m.s = &session.Session{
		ID: "model", Name: "s", RepoPath: m.repo, GitCommonDir: filepath.Join(m.repo, ".git"), Status: session.StatusActive, Target: "main", BaseCommit: base,
		CreatedAt: time.Now(), Tmux: session.Tmux{Session: "paw-s", Socket: filepath.Join(dir, "none")},
	}
	for _, name := range []string{"a", "b"} {
		m.addAgent(name, base, state{m.readFiles(m.repo), map[string][]int{}, []string{base}, map[int]bool{}, map[string]bool{}, false}, nil)
	}
	if err := m.h.Store.Create(t.Context(), m.s, nil); err != nil {
		t.Fatal(err)
	}
	return m
}

// modelConfig is a repository with a remote, whose main others move; and whose own main agents may push to.
const modelConfig = `
[user]
	name = u
	email = u@x
[gc]
	auto = 0
[maintenance]
	auto = false
[receive]
	denyCurrentBranch = updateInstead
[remote "origin"]
	url = ../origin.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
`

// modelHome is paw in the world of a model.
func modelHome(dir string) *app.App {
	paths := config.Paths{StateDir: filepath.Join(dir, "state"), SessionsDir: filepath.Join(dir, "sessions")}
	return &app.App{
		Paths: paths, Dir: filepath.Join(dir, "repo"), Env: []string{"HOME=" + dir}, Now: time.Now, Step: func(string) {},
		Note: func(string) {}, Config: config.Loaded{Config: config.Default()}, CLIs: clis.New(nil),
		Store: session.Store{Dir: paths.SessionsDir, LocksDir: filepath.Join(dir, "locks")}, Locks: session.Locks{Dir: filepath.Join(dir, "locks")},
	}
}

// addAgent adds an agent as paw start and paw add do, without a CLI.
func (m *landModel) addAgent(name, base string, begin state, from *session.Origin) session.Agent {
	path := filepath.Join(filepath.Dir(m.repo), "repo.paw", "s", name)
	m.git(m.repo, "worktree", "add", "-q", "-b", "paw/s/"+name, path, base)
	one := session.Agent{
		Name: name, CLI: "demo", Branch: "paw/s/" + name, WorktreePath: path, TurnSession: "s_" + name, BranchCreated: true,
		Phase: session.PhaseStopped, BaseCommit: base, CreatedAt: time.Now(), From: from,
	}
	m.git(m.repo, "update-ref", turn.TagRef(one.TurnSession, 0), base)
	m.s.Agents = append(m.s.Agents, one)
	m.agents[name] = &modelAgent{name: name, now: begin, taken: begin.clone(), turns: []state{begin.clone()}, committed: map[int]bool{}, brought: map[string]string{}}
	return one
}

func (m *landModel) load() *session.Session {
	m.t.Helper()
	s, err := m.h.Load("s")
	if err != nil {
		m.t.Fatal(err)
	}
	m.s = s
	return s
}

func (m *landModel) git(dir string, args ...string) string {
	m.t.Helper()
	out, err := m.tryGit(dir, args...)
	if err != nil {
		m.t.Fatalf("git %s: %v: %s\n%s", strings.Join(args, " "), err, out, strings.Join(m.said, "\n"))
	}
	return out
}

func (m *landModel) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), modelGit...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// modelGit is the user's git: no settings but a name.
var modelGit = []string{
	"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@x", "GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@x",
	"GIT_EDITOR=true",
}

// commit commits all that is in a worktree, and returns the new commit.
func (m *landModel) commit(dir, title string, more ...string) string {
	m.t.Helper()
	m.git(dir, "add", "-A")
	m.git(dir, append([]string{"commit", "-q", "--allow-empty", "-m", title}, more...)...)
	return m.head(dir)
}

// head is the commit that a checkout is at: files, since it is asked for several times in each step.
func (m *landModel) head(dir string) string {
	m.t.Helper()
	common, own := filepath.Join(m.repo, ".git"), filepath.Join(m.repo, ".git")
	if dir != m.repo {
		own = filepath.Join(common, "worktrees", filepath.Base(dir))
	}
	text, _ := os.ReadFile(filepath.Join(own, "HEAD"))
	if ref, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: "); ok {
		if id, err := os.ReadFile(filepath.Join(common, ref)); err == nil {
			return strings.TrimSpace(string(id))
		}
	}
	return m.git(dir, "rev-parse", "HEAD")
}

func (m *landModel) tip() string { return m.head(m.repo) }

func (m *landModel) past() past { return m.pasts[m.tip()] }

func (m *landModel) worktree(agent string) string { return m.s.Agent(agent).WorktreePath }

// put writes a file, and removes it where there is no text.
func (m *landModel) put(dir, path, text string) {
	m.t.Helper()
	path = filepath.Join(dir, path)
	if text == "" {
		_ = os.Remove(path)
		return
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *landModel) readFiles(dir string) files {
	m.t.Helper()
	all := files{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() || d.Name() == ".git":
			return nil
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

// set writes a value into a worktree, and returns the number of the write, 0 where the value was there.
func (m *landModel) set(dir, key, value, by string) int {
	m.t.Helper()
	all := m.readFiles(dir)
	values, file := all.values(), fileOf(key)
	if values[key] == value {
		return 0
	}
	path := cmp.Or(all.places()[file], m.readFiles(m.repo).places()[file], file) // where main has it: a new file is no rename
	values[key] = value
	text := textOf(file, values, m.alike)
	if value == "" && file == key {
		text = ""
	}
	m.put(dir, path, text)
	return m.wrote(key, value, by)
}

// wrote remembers a write.
func (m *landModel) wrote(key, value, by string) int {
	m.writes = append(m.writes, write{value, by})
	if m.ids[value] == 0 {
		m.ids[value] = len(m.writes) - 1
	}
	if !strings.Contains(m.parties[key], by) {
		m.parties[key] += by
	}
	return len(m.writes) - 1
}

// fresh is a value that no key ever had.
func (m *landModel) fresh(by string) string {
	m.count++
	return fmt.Sprintf("%s-%d-%x", by, m.count, uint64(m.count)*0x9e3779b97f4a7c15)
}

// turn has an agent do something in a turn.
func (m *landModel) turn(a *modelAgent, change func()) {
	m.t.Helper()
	s := m.load()
	if err := turns.BeginOwn(m.t.Context(), m.h.Agent(s, s.Agent(a.name)), "do the work of "+a.name); err != nil {
		m.t.Fatal(err)
	}
	a.take()
	change()
	if err := turns.EndOwn(m.t.Context(), m.h.Agent(s, s.Agent(a.name))); err != nil {
		m.t.Fatal(err)
	}
	m.load()
	a.take()
	a.turns, a.undo = append(a.turns, a.now.clone()), nil
}

// kindOf is the kind of an error of paw, -1 for none.
func kindOf(err error) errs.Kind {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Kind
	}
	return -1
}

// fail ends the run: a sentence does not hold. Its kind is what a shorter plan has to break as well.
func (m *landModel) fail(kind, format string, args ...any) {
	m.t.Helper()
	panic(divergence{kind, fmt.Sprintf(format, args...)})
}

type divergence struct{ kind, text string }
