package orchestrator

import (
	"errors"
	"fmt"
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
	"paw/orchestrator/landing"
	"paw/orchestrator/turns"
	"paw/session"
)

// The model of landings: files have slots, between which enough lines stay as they are that no two slots are ever one change for git.
// Each slot belongs to one agent, or to the user; agents write their own slots alone. So what a branch must be after each step is a
// three-way decision for each slot, whose base the model knows from what happened, without any git.

// slots is what each slot has, by its name such as "f0 a 1"; a slot that is empty is not there.
type slots map[string]string

const modelAgents, modelFiles, modelSlots = 2, 2, 2

func slotNames() (names []string) {
	for f := range modelFiles {
		for _, who := range []string{"a", "b", "c", "user"} {
			for n := range modelSlots {
				names = append(names, fmt.Sprintf("f%d %s %d", f, who, n))
			}
		}
	}
	for _, who := range []string{"a", "b", "c", "user"} {
		names = append(names, "own-"+who+" "+who+" 0") // a file of its own, that comes and goes
	}
	return names
}

func slotOwner(name string) string { return strings.Fields(name)[1] }

// files are the files that slots make.
func (s slots) files() map[string]string {
	text := map[string]string{}
	for _, name := range slotNames() {
		file := strings.Fields(name)[0]
		if strings.HasPrefix(file, "own-") {
			if s[name] != "" {
				text[file] = s[name] + "\n"
			}
			continue
		}
		for i := range 5 {
			text[file] += fmt.Sprintf("---- before %s, line %d\n", name, i)
		}
		if s[name] != "" {
			text[file] += s[name] + "\n"
		}
	}
	return text
}

// slotsIn reads slots from files.
func slotsIn(text map[string]string) slots {
	s := slots{}
	for file, content := range text {
		if strings.HasPrefix(file, "own-") {
			s[file+" "+strings.TrimPrefix(file, "own-")+" 0"] = strings.TrimSpace(content)
			continue
		}
		name := ""
		for line := range strings.Lines(content) {
			if before, ok := strings.CutPrefix(line, "---- before "); ok {
				name, _, _ = strings.Cut(before, ",")
			} else {
				s[name] += strings.TrimSpace(line)
			}
		}
	}
	return s
}

func (s slots) equal(other slots) bool { return s.diff(other) == "" }

func (s slots) diff(other slots) string {
	var lines []string
	for _, name := range slotNames() {
		if s[name] != other[name] {
			lines = append(lines, fmt.Sprintf("%s: want %q, got %q", name, s[name], other[name]))
		}
	}
	return strings.Join(lines, "\n")
}

// modelLanding is a landing as the model knows it.
type modelLanding struct {
	id      int
	agent   string
	as      landing.As
	line    []*point        // that led to the state
	changes slots           // slots that it changed, as they were before
	has     slots           // the branch after it
	instead []int           // landings whose work it brought again
	brought map[*point]bool // of its line, what nothing had brought before
	before  string          // commits
	after   string
}

// acknowledged says what a branch knows of a landing.
type acknowledged string

const (
	standsIn acknowledged = "stands"
	revertIn acknowledged = "reverted"
)

// branchState is what a commit of main is.
type branchState struct {
	has      slots
	from     map[string]int // landing that brought a slot, 0 for none
	landings map[int]acknowledged
}

func (b branchState) clone() branchState {
	return branchState{maps.Clone(b.has), maps.Clone(b.from), maps.Clone(b.landings)}
}

// point is a state that others came from: the end of a turn, a landing between turns, an update. News is what an update told the agent of
// its own slots, and which landing had brought that to the branch.
type point struct {
	has  slots
	news map[string]news
}

type news struct {
	value string
	from  int
}

// lineState is an agent at one moment.
type lineState struct {
	has   slots
	line  []*point // newest last
	owned []string // whose slots are its own work
}

func (l lineState) clone() lineState {
	return lineState{maps.Clone(l.has), slices.Clone(l.line), l.owned}
}

// at appends the state as a point.
func (l *lineState) at(n map[string]news) { l.line = append(l.line, &point{maps.Clone(l.has), n}) }

type modelAgent struct {
	name  string
	now   lineState
	undo  *lineState // what rewind --undo goes back to
	turns []lineState
}

// landModel is one world with its model.
type landModel struct {
	t        testing.TB
	h        *app.App
	s        *session.Session
	repo     string
	agents   map[string]*modelAgent
	commits  map[string]branchState // of main, by id
	landings map[int]*modelLanding
	notes    []string
	count    int
	clock    int64
	said     []string // steps, for people
}

func newLandModel(t testing.TB, dir string) *landModel {
	t.Helper()
	m := &landModel{t: t, repo: filepath.Join(dir, "repo"), agents: map[string]*modelAgent{}, commits: map[string]branchState{}, landings: map[int]*modelLanding{}, clock: time.Now().Unix()}
	m.git("", "init", "-q", "-b", "main", m.repo)
	m.git(m.repo, "config", "user.name", "u")
	m.git(m.repo, "config", "user.email", "u@x")
	m.git(m.repo, "config", "gc.auto", "0")
	m.git(m.repo, "config", "maintenance.auto", "false")
	m.write(m.repo, slots{})
	m.git(m.repo, "add", "-A")
	m.git(m.repo, "commit", "-q", "-m", "first")
	base := m.git(m.repo, "rev-parse", "HEAD")
	m.commits[base] = branchState{has: slots{}, from: map[string]int{}, landings: map[int]acknowledged{}}
	m.h = modelHome(dir, func(text string) { m.notes = append(m.notes, text) })
	m.s = &session.Session{
		ID: "model", Name: "s", RepoPath: m.repo, GitCommonDir: filepath.Join(m.repo, ".git"), Status: session.StatusActive, Target: "main", BaseCommit: base,
		CreatedAt: time.Now(), Tmux: session.Tmux{Session: "paw-s", Socket: filepath.Join(dir, "none")},
	}
	for i := range modelAgents {
		name := string(rune('a' + i))
		m.addAgent(name, base, lineState{has: slots{}, owned: []string{name}}, nil)
	}
	m.save()
	return m
}

// modelHome is paw in the world of a model.
func modelHome(dir string, note func(string)) *app.App {
	paths := config.Paths{StateDir: filepath.Join(dir, "state"), SessionsDir: filepath.Join(dir, "sessions")}
	return &app.App{
		Paths: paths, Dir: filepath.Join(dir, "repo"), Env: []string{"HOME=" + dir}, Now: time.Now, Step: func(string) {},
		Note: note, Config: config.Loaded{Config: config.Default()}, CLIs: clis.New(nil),
		Store: session.Store{Dir: paths.SessionsDir, LocksDir: filepath.Join(dir, "locks")}, Locks: session.Locks{Dir: filepath.Join(dir, "locks")},
	}
}

func (m *landModel) addAgent(name, base string, state lineState, from *session.Origin) {
	path := filepath.Join(filepath.Dir(m.repo), "repo.paw", "s", name)
	m.git(m.repo, "worktree", "add", "-q", "-b", "paw/s/"+name, path, base)
	m.s.Agents = append(m.s.Agents, session.Agent{
		Name: name, CLI: "demo", Branch: "paw/s/" + name, WorktreePath: path, TurnSession: "s_" + name, BranchCreated: true,
		Phase: session.PhaseStopped, BaseCommit: base, CreatedAt: time.Now(), From: from,
	})
	state.at(nil)
	m.agents[name] = &modelAgent{name: name, now: state, turns: []lineState{state.clone()}}
}

func (m *landModel) save() {
	m.t.Helper()
	if err := m.h.Store.Create(m.t.Context(), m.s, nil); err != nil {
		m.t.Fatal(err)
	}
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

func (m *landModel) write(dir string, s slots) {
	m.t.Helper()
	files := s.files()
	for _, who := range []string{"a", "b", "c", "user"} {
		if _, there := files["own-"+who]; !there {
			_ = os.Remove(filepath.Join(dir, "own-"+who))
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *landModel) read(dir string) slots {
	m.t.Helper()
	text := map[string]string{}
	for _, name := range []string{"f0", "f1", "own-a", "own-b", "own-c", "own-user"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			text[name] = string(content)
		}
	}
	return slotsIn(text)
}

// tip is the commit that main is at: a file, since it is asked for several times in each step.
func (m *landModel) tip() string {
	m.t.Helper()
	id, err := os.ReadFile(filepath.Join(m.repo, ".git", "refs", "heads", "main"))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.TrimSpace(string(id))
}

func (m *landModel) main() branchState { return m.commits[m.tip()] }

func (m *landModel) worktree(agent string) string { return m.s.Agent(agent).WorktreePath }

// fail ends the run: what paw did is not what the model says.
func (m *landModel) fail(format string, args ...any) {
	m.t.Helper()
	panic(divergence(fmt.Sprintf(format, args...)))
}

type divergence string

// fresh is a value that no slot ever had; whole files with such lines are not like each other.
func (m *landModel) fresh(who string) string {
	m.count++
	return fmt.Sprintf("%s-%d-%x", who, m.count, uint64(m.count)*0x9e3779b97f4a7c15)
}

// base is what a state of an agent and a branch have in common in a slot that is the agent's: what it had when they last met, as far as
// the branch still knows of it.
func (m *landModel) base(b branchState, l lineState, slot string) string {
	for _, one := range slices.Backward(l.line) {
		if told, there := one.news[slot]; there {
			by := m.landings[told.from]
			var own *point
			if by != nil {
				own = m.meets(l, by)
			}
			if _, known := b.landings[told.from]; known || own == nil || own.has[slot] != told.value {
				return told.value
			}
		}
		for id := range b.landings {
			if one.news == nil && slices.Contains(m.landings[id].line, one) { // paw knows of no state between an update and what comes next
				return one.has[slot]
			}
		}
	}
	return ""
}

// meets is the last point of a line that a landing has too, nil where it brought nothing that led there.
func (m *landModel) meets(l lineState, one *modelLanding) *point {
	for _, p := range slices.Backward(l.line) {
		if p.news == nil && slices.Contains(one.line, p) {
			if one.brought[p] {
				return p
			}
			return nil
		}
	}
	return nil
}

// lostWork is a landing that main has lost by a revert, as far as its work led to a state.
type lostWork struct {
	*modelLanding
	to *point
}

// lost are the landings with work of the agent that main has lost by a revert, and that the agent still has.
func (m *landModel) lost(l lineState) (all []lostWork) {
	tip := m.main()
	var own []*modelLanding
	for _, id := range slices.Sorted(maps.Keys(tip.landings)) {
		if slices.Contains(l.owned, m.landings[id].agent) || m.meets(l, m.landings[id]) != nil {
			own = append(own, m.landings[id])
		}
	}
	gone := map[int]bool{}
	for _, one := range own {
		gone[one.id] = len(one.changes) > 0 && one.goneFrom(tip.has, own, gone, m)
	}
	out := map[int]bool{} // by the agent, from its own state
	for _, one := range own {
		to := m.meets(l, one)
		if !gone[one.id] {
			continue
		}
		covered, takenOut := false, false
		for _, by := range own {
			if !gone[by.id] && slices.Contains(by.instead, one.id) && slices.Contains(by.line, to) {
				covered = true
			}
			if by.id > one.id && !gone[by.id] && slices.Contains(by.line, one.line[len(one.line)-1]) {
				takenOut = one.absent(by.line[len(by.line)-1].has, own, out)
			}
		}
		out[one.id] = takenOut
		if to != nil && !one.without(l.has) && !covered && !takenOut {
			all = append(all, lostWork{one, to})
		}
	}
	return all
}

// without reports whether slots have nothing of a landing.
func (one *modelLanding) without(has slots) bool {
	for slot, before := range one.changes {
		if has[slot] != before {
			return false
		}
	}
	return true
}

// goneFrom reports whether main has nothing of a landing but what a later one has brought again.
func (one *modelLanding) goneFrom(tip slots, own []*modelLanding, gone map[int]bool, m *landModel) bool {
	for _, by := range slices.Backward(own) {
		if end := one.line[len(one.line)-1]; slices.Contains(by.instead, one.id) && !slices.Contains(by.line, end) && !by.without(tip) {
			mine, its := end.has, by.line[len(by.line)-1].has
			for slot := range one.changes {
				part := one.has[slot]
				if part == mine[slot] {
					part = its[slot]
				} else if mine[slot] != its[slot] {
					return false
				}
				if tip[slot] != part {
					return false
				}
			}
			return true
		}
	}
	return one.absent(tip, own, gone)
}

// absent reports whether slots have nothing of a landing, nor of those earlier ones that it went on from and that are gone.
func (one *modelLanding) absent(has slots, own []*modelLanding, gone map[int]bool) bool {
	if one.without(has) {
		return true
	}
	for slot, before := range one.changes {
		for _, earlier := range slices.Backward(own) {
			if was, there := earlier.changes[slot]; there && earlier.id < one.id && gone[earlier.id] && before == earlier.has[slot] {
				before = was
			}
		}
		if has[slot] == one.has[slot] || has[slot] != before {
			return false
		}
	}
	return true
}

// expected is what main becomes by a landing, and the slots that conflict. With again what main has lost lands as it did.
func (m *landModel) expected(l lineState, again bool) (slots, []string) {
	tip := m.main()
	next := maps.Clone(tip.has)
	var conflicts []string
	bring := func(b branchState, l lineState) {
		for _, slot := range slotNames() {
			if !slices.Contains(l.owned, slotOwner(slot)) {
				continue
			}
			base, ours, theirs := m.base(b, l, slot), next[slot], l.has[slot]
			switch {
			case ours == theirs || theirs == base:
			case ours == base:
				next[slot] = theirs
			default:
				conflicts = append(conflicts, slot)
			}
		}
	}
	if again {
		for _, one := range m.lost(l) {
			bring(m.commits[one.before], lineState{one.to.has, one.line[:slices.Index(one.line, one.to)+1], l.owned})
		}
	}
	bring(tip, l)
	return next, conflicts
}

// remember says what the commit is that main is at now.
func (m *landModel) remember(b branchState) { m.commits[m.tip()] = b }

// check compares the checkout of main with the model.
func (m *landModel) check(what string) {
	m.t.Helper()
	want := m.main()
	if want.has == nil {
		m.fail("%s: main is at a commit that nobody knows", what)
	}
	if diff := want.has.diff(m.read(m.repo)); diff != "" {
		m.fail("%s: main:\n%s", what, diff)
	}
	if left := m.git(m.repo, "status", "--porcelain"); left != "" {
		m.fail("%s: main is not clean: %s", what, left)
	}
	for name, a := range m.agents {
		if diff := a.now.has.diff(m.read(m.worktree(name))); diff != "" {
			m.fail("%s: agent %s:\n%s", what, name, diff)
		}
	}
}

// kindOf is the kind of an error of paw, -1 for none.
func kindOf(err error) errs.Kind {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Kind
	}
	return -1
}

func (m *landModel) turn(a *modelAgent, change func()) {
	m.t.Helper()
	s := m.load()
	w := s.Agent(a.name)
	if err := turns.BeginOwn(m.t.Context(), m.h.Agent(s, w), "do the work of "+a.name); err != nil {
		m.t.Fatal(err)
	}
	change()
	if err := turns.EndOwn(m.t.Context(), m.h.Agent(s, s.Agent(a.name))); err != nil {
		m.t.Fatal(err)
	}
	m.load()
	a.now.at(nil)
	a.turns = append(a.turns, a.now.clone())
}
