package orchestrator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// step is one operation; it is left out where it makes no sense at the moment. All that it decides comes from r.
type step struct {
	name   string
	weight int
	do     func(m *landModel, r *rand.Rand) (said string)
}

var modelSteps = []step{
	{"work", 30, (*landModel).stepWork},
	{"land", 22, (*landModel).stepLand},
	{"land older", 6, (*landModel).stepLandOlder},
	{"land again", 3, (*landModel).stepLandAgain},
	{"undo", 4, (*landModel).stepUndo},
	{"update", 8, (*landModel).stepUpdate},
	{"rewind", 4, (*landModel).stepRewind},
	{"rewind undo", 3, (*landModel).stepRewindUndo},
	{"forecast", 2, (*landModel).stepForecast},
	{"add", 2, (*landModel).stepAdd},
	{"user", 6, (*landModel).stepUser},
	{"rename", 3, (*landModel).stepRename},
	{"delete", 2, (*landModel).stepDelete},
	{"amend", 4, (*landModel).stepAmend},
	{"squash", 3, (*landModel).stepSquash},
	{"reset", 3, (*landModel).stepReset},
	{"revert", 5, (*landModel).stepRevert},
	{"drop", 3, (*landModel).stepDrop},
	{"by hand", 4, (*landModel).stepByHand},
	{"others", 3, (*landModel).stepOthers},
	{"alike", 0, func(m *landModel, _ *rand.Rand) string { m.alike = true; return "files are alike" }}, // the first of some worlds
	{"killed", 0, (*landModel).stepKilled}, // only where kills are asked for
}

// handiwork is what agents do in their worktrees in a turn, and users between turns.
var handiwork = []struct {
	name   string
	weight int
	do     func(m *landModel, a *modelAgent, r *rand.Rand) (done bool)
}{
	{"edits", 12, (*landModel).edit},
	{"commits", 6, (*landModel).commitAll},
	{"commits a file", 2, (*landModel).commitOne},
	{"amends", 2, (*landModel).amendOwn},
	{"soft-resets to main", 1, (*landModel).softReset},
	{"merges main", 2, func(m *landModel, a *modelAgent, _ *rand.Rand) bool {
		return m.bringIn(a, "main", "merge", "-q", "--no-edit", "main")
	}},
	{"merges main its way", 1, func(m *landModel, a *modelAgent, _ *rand.Rand) bool {
		return m.bringIn(a, "main", "merge", "-q", "--no-edit", "-X", "ours", "main")
	}},
	{"rebases on main", 2, func(m *landModel, a *modelAgent, _ *rand.Rand) bool {
		return m.bringIn(a, "main", "rebase", "-q", "main")
	}},
	{"pulls", 1, func(m *landModel, a *modelAgent, r *rand.Rand) bool {
		return m.bringIn(a, "origin/main", [][]string{{"merge", "-q", "--no-edit", "origin/main"}, {"rebase", "-q", "origin/main"}}[r.IntN(2)]...)
	}},
	{"picks", 1, (*landModel).pickOne},
	{"pushes to main", 1, (*landModel).push},
}

func itoa(n int) string { return strconv.Itoa(n) }

func (m *landModel) some(r *rand.Rand) *modelAgent {
	return m.agents[slices.Sorted(maps.Keys(m.agents))[r.IntN(len(m.agents))]]
}

func (m *landModel) stepWork(r *rand.Rand) string {
	a := m.some(r)
	said := ""
	change := func() {
		for range 1 + r.IntN(3) {
			n := r.IntN(31)
			for _, one := range handiwork {
				if n -= one.weight; n < 0 {
					if !strings.Contains(os.Getenv("PAW_MODEL_WITHOUT"), one.name) && one.do(m, a, r) {
						said += ", " + one.name
					}
					break
				}
			}
		}
	}
	if r.IntN(3) == 0 {
		change()
		return a.name + " by hand" + said
	}
	m.turn(a, change)
	return fmt.Sprintf("%s in turn %d%s", a.name, len(a.turns)-1, said)
}

func (m *landModel) edit(a *modelAgent, r *rand.Rand) bool {
	keys := keysOf(a.name)
	for range 1 + r.IntN(2) {
		key, value := keys[r.IntN(len(keys))], m.fresh(a.name)
		if r.IntN(5) == 0 {
			value = ""
		}
		if id := m.set(m.worktree(a.name), key, value, a.name); id > 0 {
			a.now.writes[key] = append(a.now.writes[key], id)
		}
	}
	a.now.files = m.readFiles(m.worktree(a.name))
	return true
}

// committed remembers what the history of an agent's HEAD has.
func (m *landModel) committed(a *modelAgent, from ...past) {
	all := past{}
	for _, one := range from {
		all = all.and(one)
	}
	m.pasts[m.head(m.worktree(a.name))] = all.with(a.now, perhaps)
	for key, ids := range a.now.writes {
		if last := ids[len(ids)-1]; a.now.files.values()[key] == m.writes[last].value {
			a.committed[last] = true
		}
	}
}

func (m *landModel) headPast(a *modelAgent) past { return m.pasts[m.head(m.worktree(a.name))] }

func (m *landModel) commitAll(a *modelAgent, _ *rand.Rand) bool {
	dir := m.worktree(a.name)
	if m.git(dir, "status", "--porcelain") == "" {
		return false
	}
	from := m.headPast(a)
	m.count++
	m.commit(dir, fmt.Sprintf("commit %d of %s", m.count, a.name))
	m.committed(a, from)
	return true
}

func (m *landModel) commitOne(a *modelAgent, _ *rand.Rand) bool {
	dir := m.worktree(a.name)
	lines := strings.Split(m.git(dir, "status", "--porcelain", "-uall"), "\n")
	if len(lines) < 2 {
		return false
	}
	from := m.headPast(a)
	m.count++
	m.git(dir, "add", "-A", "--", lines[0][strings.LastIndex(lines[0], " ")+1:])
	m.git(dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("commit %d of %s", m.count, a.name))
	m.committed(a, from)
	return true
}

// amendOwn amends HEAD with all that there is, also where that came from main. (Not the first commit: main has nothing in common then.)
func (m *landModel) amendOwn(a *modelAgent, r *rand.Rand) bool {
	dir := m.worktree(a.name)
	if _, err := m.tryGit(dir, "rev-parse", "-q", "--verify", "HEAD^"); err != nil {
		return false
	}
	from := m.headPast(a)
	m.edit(a, r)
	m.count++
	m.commit(dir, fmt.Sprintf("commit %d of %s", m.count, a.name), "--amend")
	m.committed(a, past{}.anew(past{}, false), from.anew(past{}, false))
	return true
}

// softReset is how some make one commit of all theirs: on top of main, but without what main has got since.
func (m *landModel) softReset(a *modelAgent, _ *rand.Rand) bool {
	dir := m.worktree(a.name)
	m.git(dir, "reset", "-q", "--soft", "main")
	m.count, m.anew = m.count+1, true
	m.commit(dir, fmt.Sprintf("commit %d of %s", m.count, a.name))
	for key, ids := range a.now.writes {
		if last := ids[len(ids)-1]; m.past().writes[last] != unknown && !slices.Contains(a.taken.writes[key], last) { // main had it before paw took a state: it is got
			a.now.kept[last] = true
		}
	}
	m.committed(a, m.past())
	return true
}

// bringIn has an agent get what a branch has, where git can. That is not its own.
func (m *landModel) bringIn(a *modelAgent, branch string, args ...string) bool {
	dir := m.worktree(a.name)
	there, err := m.tryGit(dir, "rev-parse", "-q", "--verify", branch)
	if err != nil {
		return false
	}
	m.commitAll(a, nil)
	before, from, was, named := m.head(dir), m.headPast(a), a.now.files.values(), a.now.files
	if _, err := m.tryGit(dir, args...); err != nil {
		m.git(dir, args[0], "--abort")
		return false
	}
	if m.head(dir) == before {
		return false
	}
	a.now.files = m.readFiles(dir)
	a.now.got = append(a.now.got, m.git(dir, "merge-base", there, "main"))
	a.now.foreign = a.now.foreign || branch != "main"
	is, main := a.now.files.values(), m.readFiles(m.repo).values()
	for _, key := range differ(was, is) {
		a.brought[key] = is[key]
	}
	for _, file := range named.renamed(a.now.files) { // a commit of main that the branch had, and main has not any more
		if a.now.files.places()[file] != m.readFiles(m.repo).places()[file] {
			a.now.renames[file] = true
		}
	}
	if branch == "main" { // a rebase makes a commit anew that had taken something of main out, see softReset: that is its own work
		for _, key := range differ(was, is) {
			if is[key] != main[key] && was[key] == main[key] { // also where a commit of main that the agent has amended makes a file anew that main has renamed
				a.now.writes[key] = append(a.now.writes[key], m.wrote(key, is[key], a.name))
			}
		}
	}
	for key, ids := range a.now.writes {
		last := ids[len(ids)-1]
		if is[key] != main[key] || m.pasts[there].writes[last] == unknown { // its own stood against main's, or both had done the same: that is work anew, or it is none, by what git took of the file
			a.now.kept[last] = true
		}
		m.anew = m.anew || is[key] != main[key] && m.pasts[there].writes[last] != unknown // a rebase has made anew what main has taken out
	}
	for _, key := range differ(is, main) {
		m.anew = m.anew || len(a.now.writes[key]) == 0 // as a commit of others that the agent has amended
	}
	m.anew = m.anew || len(a.now.files.renamed(m.readFiles(m.repo))) > 0
	m.committed(a, from, m.pasts[there])
	return true
}

// pickOne has an agent pick the newest commit of another branch. That is its own work, as if it had written it.
func (m *landModel) pickOne(a *modelAgent, r *rand.Rand) bool {
	dir := m.worktree(a.name)
	m.commitAll(a, nil)
	from, before, branch := m.headPast(a), a.now.files.values(), []string{"main", "paw/s/" + m.some(r).name}[r.IntN(2)]
	if _, err := m.tryGit(dir, "rev-parse", "-q", "--verify", branch+"^"); err != nil { // the first commit, with all files
		return false
	}
	if _, err := m.tryGit(dir, "cherry-pick", branch); err != nil {
		_, _ = m.tryGit(dir, "cherry-pick", "--abort")
		return false
	}
	picked := m.readFiles(dir)
	if len(a.now.files.renamed(picked)) > 0 { // a rename would be its own work, too
		m.git(dir, "reset", "-q", "--hard", "HEAD^")
		return false
	}
	a.now.files = picked
	after := a.now.files.values()
	for _, key := range differ(before, after) {
		a.now.writes[key] = append(a.now.writes[key], m.wrote(key, after[key], a.name))
	}
	m.committed(a, from)
	return true
}

// push has an agent put its commits on main itself, where main only has to go forward.
func (m *landModel) push(a *modelAgent, _ *rand.Rand) bool {
	before, tip := m.readFiles(m.repo), m.tip()
	if _, err := m.tryGit(m.worktree(a.name), "push", "-q", ".", "HEAD:main"); err != nil || m.tip() == tip {
		return false
	}
	m.moved(before, m.pasts[tip].and(m.headPast(a)))
	return true
}

// moved remembers what main is after others than paw have moved it on.
func (m *landModel) moved(before files, p past) {
	p = p.and(past{})
	was, is := before.values(), m.readFiles(m.repo).values()
	for _, key := range differ(was, is) {
		if id := m.ids[is[key]]; partyOf(key) != "u" && (is[key] == "" || m.writes[id].by != partyOf(key)) {
			p.touched[key] = true
		}
		delete(p.out, m.ids[is[key]]) // it is in again
	}
	m.pasts[m.tip()] = p
}

func (m *landModel) stepLand(r *rand.Rand) string {
	return m.land(m.some(r), 0, landing.Forms[max(r.IntN(5)-2, 0)], false, r.IntN(4) == 0, r.IntN(3) == 0)
}

func (m *landModel) stepLandOlder(r *rand.Rand) string {
	a := m.some(r)
	if len(a.turns) < 2 {
		return ""
	}
	return m.land(a, 1+r.IntN(len(a.turns)-1), landing.Forms[max(r.IntN(5)-2, 0)], false, r.IntN(6) == 0, false)
}

func (m *landModel) stepLandAgain(r *rand.Rand) string {
	return m.land(m.some(r), 0, landing.Squash, true, r.IntN(4) == 0, false)
}

func (m *landModel) stepUndo(*rand.Rand) string {
	tip := m.tip()
	_, last := m.landed[tip]
	l, err := landing.Undo(m.t.Context(), m.h, m.load(), 0, false)
	m.load()
	if err != nil {
		if m.tip() != tip || last && kindOf(err) != errs.Refused {
			m.fail("undo", "undo: %v", err)
		}
		return "undo: " + err.Error()
	}
	if l.After != tip || m.tip() != l.Before {
		m.fail("undo", "main was at %s, is at %s: %+v", tip, m.tip(), l)
	}
	m.clean("undo")
	return fmt.Sprintf("undo %d", l.ID)
}

func (m *landModel) stepUpdate(r *rand.Rand) string {
	a := m.some(r)
	said, dir := "update "+a.name, m.worktree(a.name)
	a.take()
	before, from, tip := a.now.clone(), m.headPast(a), m.tip()
	left := m.left(a.now)
	done, err := landing.Update(m.t.Context(), m.h, m.load(), a.name, "", false)
	m.load()
	switch kind := kindOf(err); {
	case kind == errs.Conflict && m.mayConflict(a.now), kind == errs.Refused && (a.now.foreign || m.left(a.now)), lostOnly(err) && m.lost(a.now), m.claims(err):
		return said + ": " + err.Error()
	case kind == errs.Conflict:
		m.fail("update conflict", "%s: %v", said, err)
	case err != nil:
		m.fail("error", "%s: %v", said, err)
	}
	after := m.readFiles(dir)
	m.updated(said, a, before.files, after)
	a.now.files, a.now.got = after, append(a.now.got, tip)
	a.taken = a.now.clone()
	m.committed(a, from, m.pasts[tip])
	if done.Nothing {
		return said + ": nothing"
	}
	if a.undo = &before; left {
		m.beginsAnew(a)
	}
	return said
}

// beginsAnew is an agent whose chain begins anew on main: a landing of the old one is not found again once its commit is made anew.
func (m *landModel) beginsAnew(a *modelAgent) {
	for _, p := range m.pasts {
		for _, ids := range a.now.writes {
			for _, id := range ids {
				if p.writes[id] == surely {
					p.writes[id] = asIs
				}
			}
		}
	}
}

func (m *landModel) stepRewind(r *rand.Rand) string {
	a := m.some(r)
	a.take()
	number, before := r.IntN(len(a.turns)), a.now.clone()
	said := fmt.Sprintf("rewind %s %d", a.name, number)
	done, err := Rewind(m.t.Context(), m.h, m.load(), a.name, number, RewindOptions{})
	if err != nil {
		m.fail("error", "%s: %v", said, err)
	}
	if a.rewound(a.turns[number]); done.RescueRef != "" {
		a.undo = &before
	}
	return said
}

// stepRewindUndo takes back a rewind or an update that no turn has come after.
func (m *landModel) stepRewindUndo(r *rand.Rand) string {
	a := m.some(r)
	if a.undo == nil {
		return ""
	}
	a.take()
	said, before, goal := "rewind "+a.name+" --undo", a.now.clone(), *a.undo
	if _, err := UndoRewind(m.t.Context(), m.h, m.load(), a.name, false); err != nil {
		m.fail("error", "%s: %v", said, err)
	}
	a.rewound(goal)
	a.undo = &before
	return said
}

func (a *modelAgent) rewound(to state) { a.now, a.taken = to.clone(), to.clone() }

func (m *landModel) stepForecast(*rand.Rand) string {
	guards := map[string]guarded{}
	for name := range m.agents {
		guards[name] = m.guard(name)
	}
	if _, err := landing.Look(m.t.Context(), m.h, m.load(), nil, "", nil); err != nil {
		m.fail("error", "forecast: %v", err)
	}
	for name := range m.agents {
		m.guarded("forecast", name, guards[name])
	}
	return "forecast"
}

// stepAdd adds agent c: on top of main, or from a turn of another agent, whose work is then its own too.
func (m *landModel) stepAdd(r *rand.Rand) string {
	if m.agents["c"] != nil {
		return ""
	}
	from := m.some(r)
	number, said := r.IntN(len(from.turns)), "add c"
	base, begin, origin := m.tip(), state{m.readFiles(m.repo), map[string][]int{}, []string{m.tip()}, map[int]bool{}, map[string]bool{}, false}, (*session.Origin)(nil)
	if number > 0 {
		said = fmt.Sprintf("add c from %s@%d", from.name, number)
		snapshot := m.git(m.repo, "rev-parse", turn.TurnRef("s_"+from.name, number))
		if base = snapshot; strings.HasPrefix(m.git(m.repo, "log", "-1", "--format=%ae", snapshot), "paw@") {
			base = m.git(m.repo, "rev-parse", snapshot+"^")
		}
		origin = &session.Origin{Agent: from.name, Turn: number, Snapshot: snapshot}
		begin = from.turns[number].clone()
		repo, err := m.h.ManagerOf(m.t.Context(), m.s)
		if err == nil {
			var chain *turns.Chain
			if chain, err = turns.ChainOf(m.t.Context(), m.h.Agent(m.s, m.s.Agent(from.name)).In(repo)); err == nil {
				origin.State, err = chain.At(m.t.Context(), number, snapshot)
			}
		}
		if err != nil {
			m.t.Fatal(err)
		}
		m.git(m.repo, "update-ref", turn.NowRef("s_c"), origin.State)
	}
	w := m.addAgent("c", base, begin, origin)
	for path := range m.readFiles(w.WorktreePath) {
		m.put(w.WorktreePath, path, begin.files[path])
	}
	for path, text := range begin.files {
		m.put(w.WorktreePath, path, text)
	}
	if _, err := m.h.Update(m.t.Context(), "s", func(rec *session.Session) error {
		rec.Agents = append(rec.Agents, w)
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	return said
}

// userWrites writes on main: mostly keys of the user's own, else one that an agent has there.
func (m *landModel) userWrites(r *rand.Rand) string {
	keys, values := keysOf("u"), m.readFiles(m.repo).values()
	key := keys[r.IntN(len(keys))]
	if there := slices.Sorted(maps.Keys(values)); len(there) > 0 && r.IntN(6) == 0 {
		key = there[r.IntN(len(there))]
	}
	m.set(m.repo, key, m.fresh("u"), "u")
	return key
}

func (m *landModel) stepUser(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past()
	said := "user writes " + m.userWrites(r)
	m.commit(m.repo, "work of user")
	m.moved(before, p)
	return said
}

// stepRename renames a file on main, or a folder.
func (m *landModel) stepRename(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past()
	paths := slices.Sorted(maps.Keys(before))
	m.count++
	path := paths[r.IntN(len(paths))]
	folder, _, _ := strings.Cut(path, "/")
	to := fmt.Sprintf("%s/r%d", folder, m.count)
	if r.IntN(3) == 0 {
		path, to = folder, fmt.Sprintf("%s%d", folder, m.count)
	}
	m.git(m.repo, "mv", path, to)
	m.commit(m.repo, "renamed by user")
	m.moved(before, p.and(past{renamed: true}))
	return fmt.Sprintf("user renames %s to %s", path, to)
}

func (m *landModel) stepDelete(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past()
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(before)), func(path string) bool { return slices.Contains(modelShared, read(before[path], map[string]string{})) })
	if len(paths) == 0 {
		return ""
	}
	path := paths[r.IntN(len(paths))]
	m.put(m.repo, path, "")
	m.commit(m.repo, "deleted by user")
	m.moved(before, p)
	return "user deletes " + path
}

// back is the past of an ancestor of main that the model knows, with n commits back.
func (m *landModel) back(n int) (commit string, p past, ok bool) {
	commit, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", fmt.Sprintf("HEAD~%d", n))
	if err == nil {
		p, ok = m.pasts[commit]
	}
	return commit, p, ok
}

// stepAmend has the user amend the newest commit of main, with something of their own or as it is; mostly its message is kept.
func (m *landModel) stepAmend(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past()
	_, since, ok := m.back(1)
	if !ok {
		return ""
	}
	said := "user amends"
	if r.IntN(2) == 0 {
		said += " with " + m.userWrites(r)
	}
	kept, message := r.IntN(4) > 0, []string{}
	if m.count++; kept {
		message = []string{"-m", m.git(m.repo, "log", "-1", "--format=%b")}
	}
	m.commit(m.repo, fmt.Sprintf("amended %d", m.count), append(message, "--amend")...)
	m.moved(before, p.anew(since, kept))
	return said
}

// stepSquash makes the last commits of main one, as a server does.
func (m *landModel) stepSquash(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past()
	onto, since, ok := m.back(2 + r.IntN(2))
	if !ok {
		return ""
	}
	kept, message := r.IntN(2) == 0, []string{}
	if kept {
		message = []string{"-m", m.git(m.repo, "log", "--reverse", "--format=%B", onto+"..HEAD")}
	}
	m.git(m.repo, "reset", "-q", "--soft", onto)
	m.commit(m.repo, "squashed", message...)
	m.moved(before, p.anew(since, kept))
	return fmt.Sprintf("user squashes, messages kept: %v", kept)
}

func (m *landModel) stepReset(r *rand.Rand) string {
	to, _, ok := m.back(1 + r.IntN(3))
	if !ok {
		return ""
	}
	m.git(m.repo, "reset", "-q", "--hard", to)
	return fmt.Sprintf("user resets to %.7s", to)
}

// stepRevert reverts one of the last commits of main, where git can; it may be a revert.
func (m *landModel) stepRevert(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past().and(past{})
	lines := strings.Split(m.git(m.repo, "log", "-5", "--first-parent", "--format=%H %P"), "\n")
	fields := strings.Fields(lines[r.IntN(len(lines))])
	args := []string{"revert", "--no-edit", fields[0]}
	if len(fields) == 1 {
		return ""
	} else if len(fields) > 2 {
		args = append(args, "-m", "1")
	}
	if _, err := m.tryGit(m.repo, args...); err != nil {
		_, _ = m.tryGit(m.repo, "revert", "--abort")
		return ""
	}
	was, is := before.values(), m.readFiles(m.repo).values()
	_, whole := m.landed[fields[0]] // else it is not the revert of a landing
	for _, key := range differ(was, is) {
		if id := m.ids[was[key]]; whole && was[key] != "" && p.writes[id] == surely {
			p.out[id] = is[key]
		}
	}
	m.moved(before, p)
	return fmt.Sprintf("user reverts %.7s", fields[0])
}

// stepDrop takes the commit below the newest one off main, as git rebase -i does. What it had is gone, unless a later state of the same agent
// stands above it.
func (m *landModel) stepDrop(*rand.Rand) string {
	before, p, tip := m.readFiles(m.repo), m.past(), m.tip()
	dropped, middle, ok := m.back(1)
	onto, p2, ok2 := m.back(2)
	if !ok || !ok2 || len(strings.Fields(m.git(m.repo, "log", "-2", "--format=%P", "HEAD"))) > 2 {
		return ""
	}
	if _, err := m.tryGit(m.repo, "rebase", "-q", "--onto", onto, dropped); err != nil {
		m.git(m.repo, "rebase", "--abort")
		return ""
	}
	next := p.anew(middle, true)
	above := past{}.with(m.landed[tip], perhaps)
	for id := range next.writes {
		if middle.writes[id] > p2.writes[id] {
			next.writes[id] = max(above.writes[id], p2.writes[id])
		}
	}
	m.moved(before, next)
	return fmt.Sprintf("user drops %.7s", dropped)
}

// stepByHand has the user bring an agent's branch into main by hand: merged, squashed, or its newest commit picked.
func (m *landModel) stepByHand(r *rand.Rand) string {
	before, p, a := m.readFiles(m.repo), m.past(), m.some(r)
	branch, how := "paw/s/"+a.name, r.IntN(3)
	if _, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", branch+"^"); err != nil { // the first commit, with all files
		return ""
	}
	args := [][]string{{"merge", "-q", "--no-ff", "--no-edit", branch}, {"merge", "-q", "--squash", branch}, {"cherry-pick", branch}}[how]
	if _, err := m.tryGit(m.repo, args...); err != nil || how == 1 && m.git(m.repo, "status", "--porcelain") == "" {
		m.git(m.repo, "reset", "-q", "--hard")
		_, _ = m.tryGit(m.repo, "cherry-pick", "--quit")
		return ""
	}
	brings := m.headPast(a)
	if how == 1 {
		m.commit(m.repo, "squashed by user")
	}
	if how > 0 {
		brings = brings.anew(past{}, false)
	}
	m.moved(before, p.and(brings))
	return "user brings by hand: " + strings.Join(args, " ")
}

// stepOthers has somebody else push to origin's main, or the user pull that.
func (m *landModel) stepOthers(r *rand.Rand) string {
	before, p := m.readFiles(m.repo), m.past()
	const origin = "refs/remotes/origin/main"
	there, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", origin)
	if err == nil && r.IntN(2) == 0 {
		if _, err := m.tryGit(m.repo, "merge", "-q", "--no-edit", origin); err != nil {
			m.git(m.repo, "reset", "-q", "--hard")
			return ""
		}
		m.moved(before, p.and(m.pasts[there]))
		return "user pulls"
	}
	tip := m.tip()
	m.git(m.repo, "switch", "-q", "--detach")
	m.userWrites(r)
	m.pasts[m.commit(m.repo, "work of others")] = p
	m.git(m.repo, "update-ref", origin, "HEAD")
	m.git(m.repo, "switch", "-q", "main")
	if m.tip() != tip {
		m.t.Fatal("main has moved")
	}
	return "others push to origin"
}
