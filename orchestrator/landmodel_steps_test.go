package orchestrator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
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
	{"turn", 14, (*landModel).stepTurn},
	{"edit", 3, (*landModel).stepEdit},
	{"commit", 6, (*landModel).stepCommit},
	{"rework", 2, (*landModel).stepRework},
	{"land", 14, (*landModel).stepLand},
	{"land older", 5, (*landModel).stepLandOlder},
	{"land again", 3, (*landModel).stepLandAgain},
	{"undo", 4, (*landModel).stepUndo},
	{"update", 7, (*landModel).stepUpdate},
	{"merge", modelMerges, (*landModel).stepMerge},
	{"rewind", 4, (*landModel).stepRewind},
	{"rewind undo", 2, (*landModel).stepRewindUndo},
	{"user", 6, (*landModel).stepUser},
	{"amend", 3, (*landModel).stepAmend},
	{"reset", 3, (*landModel).stepReset},
	{"revert", 4, (*landModel).stepRevert},
	{"rebase", 3, (*landModel).stepRebase},
	{"squash", 2, (*landModel).stepSquash},
	{"add", 2, (*landModel).stepAdd},
	{"killed", 0, (*landModel).stepKilled}, // only where kills are asked for
}

func (m *landModel) some(r *rand.Rand) *modelAgent {
	return m.agents[slices.Sorted(maps.Keys(m.agents))[r.IntN(len(m.agents))]]
}

// change writes into slots of the agent.
func (m *landModel) change(a *modelAgent, r *rand.Rand) {
	var own []string
	for _, slot := range slotNames() {
		if slotOwner(slot) == a.name {
			own = append(own, slot)
		}
	}
	for range 1 + r.IntN(2) {
		slot := own[r.IntN(len(own))]
		if a.now.has[slot] = m.fresh(a.name); r.IntN(4) == 0 {
			a.now.has[slot] = ""
		}
	}
	m.write(m.worktree(a.name), a.now.has)
}

func (m *landModel) stepTurn(r *rand.Rand) string {
	a := m.some(r)
	m.turn(a, func() {
		m.change(a, r)
		if r.IntN(3) == 0 {
			m.commitAll(a)
		}
	})
	return fmt.Sprintf("turn %d of %s", len(a.turns)-1, a.name)
}

func (m *landModel) stepEdit(r *rand.Rand) string {
	a := m.some(r)
	m.change(a, r)
	return "edit of " + a.name
}

func (m *landModel) commitAll(a *modelAgent) {
	dir := m.worktree(a.name)
	m.git(dir, "add", "-A")
	if m.git(dir, "status", "--porcelain") != "" {
		m.count++
		m.git(dir, "commit", "-q", "-m", fmt.Sprintf("commit %d of %s", m.count, a.name))
	}
}

func (m *landModel) stepCommit(r *rand.Rand) string {
	a := m.some(r)
	if r.IntN(3) > 0 {
		m.commitAll(a)
		return "commit of " + a.name
	}
	dir := m.worktree(a.name)
	m.git(dir, "add", "f0")
	if m.git(dir, "diff", "--cached", "--name-only") == "" {
		return ""
	}
	m.count++
	m.git(dir, "commit", "-q", "-m", fmt.Sprintf("commit %d of %s", m.count, a.name))
	return "commit of one file of " + a.name
}

// stepRework has an agent make its last commits anew, with all that it has.
func (m *landModel) stepRework(r *rand.Rand) string {
	a := m.some(r)
	dir := m.worktree(a.name)
	titles := strings.Split(m.git(dir, "log", "-2", "--first-parent", "--format=%s"), "\n")
	own := func(title string) bool {
		return strings.HasPrefix(title, "commit ") && strings.HasSuffix(title, " of "+a.name)
	}
	if !own(titles[0]) {
		return ""
	}
	m.git(dir, "add", "-A")
	m.count++
	title := fmt.Sprintf("commit %d of %s", m.count, a.name)
	if len(titles) > 1 && own(titles[1]) && r.IntN(2) == 0 {
		m.git(dir, "reset", "-q", "--soft", "HEAD~1")
		m.git(dir, "commit", "-q", "--allow-empty", "-m", title)
		return a.name + " makes two commits one"
	}
	m.git(dir, "commit", "-q", "--allow-empty", "--amend", "-m", title)
	return a.name + " amends its commit"
}

func (m *landModel) stepLand(r *rand.Rand) string {
	return m.land(m.some(r), -1, landing.Forms[max(r.IntN(5)-2, 0)], false)
}

func (m *landModel) stepLandOlder(r *rand.Rand) string {
	a := m.some(r)
	if len(a.turns) < 2 {
		return ""
	}
	return m.land(a, 1+r.IntN(len(a.turns)-1), landing.Forms[max(r.IntN(5)-2, 0)], false)
}

func (m *landModel) stepLandAgain(r *rand.Rand) string {
	return m.land(m.some(r), -1, landing.Squash, true)
}

// land lands an agent and compares main with the model.
func (m *landModel) land(a *modelAgent, number int, as landing.As, again bool) string {
	said := fmt.Sprintf("land %s --as %s", a.name, as)
	o := landing.Options{As: as, NoCheck: true, Again: again}
	state := &a.now
	if number > 0 {
		said, o.Turn, state = fmt.Sprintf("land %s@%d --as %s", a.name, number, as), fmt.Sprint(number), &a.turns[number]
	}
	if again {
		said += " --again"
	}
	tip, before := m.tip(), m.main()
	want, conflicts := m.expected(*state, again)
	lost := m.lost(*state)
	m.clock++ // no two landings make the same commit
	m.t.Setenv("GIT_COMMITTER_DATE", fmt.Sprintf("@%d +0000", m.clock))
	m.t.Setenv("GIT_AUTHOR_DATE", fmt.Sprintf("@%d +0000", m.clock))
	landed, err := landing.Land(m.t.Context(), m.h, m.load(), a.name, o)
	m.load()
	switch kind := kindOf(err); {
	case err == nil && landed.Nothing:
		if !want.equal(before.has) || len(conflicts) > 0 {
			m.fail("%s: nothing to land, and should:\n%s\nconflicts %q", said, want.diff(before.has), conflicts)
		}
		if len(lost) > 0 && !again {
			m.fail("%s: nothing to land, while main has lost %d: %v\nmain %v\nstate %v", said, lost[0].id, lost[0].changes, before.has, state.has)
		}
		return said + ": nothing"
	case kind == errs.Conflict:
		if len(conflicts) == 0 && as != landing.Commits && !m.mixed(*state, err) {
			m.fail("%s: %v, expected to land:\n%s", said, err, want.diff(before.has))
		}
		return said + ": conflict"
	case kind == errs.Refused && strings.Contains(err.Error(), "nothing new to land"):
		if !want.equal(before.has) || len(conflicts) > 0 || len(lost) == 0 {
			m.fail("%s: %v: expected %s\nconflicts %q, lost %d", said, err, want.diff(before.has), conflicts, len(lost))
		}
		return said + ": lost"
	case kind == errs.Refused && as == landing.Merge && strings.Contains(err.Error(), "--as merge"):
		return said + ": no merge"
	case err != nil:
		m.fail("%s: %v", said, err)
	}
	if len(conflicts) > 0 {
		m.fail("%s: landed, and should have conflicted in %q", said, conflicts)
	}
	m.landed(a, state, number, landed, tip, before, want)
	m.checkMessage(said, a, landed)
	return said
}

// landed tells the model of a landing.
func (m *landModel) landed(a *modelAgent, state *lineState, number int, landed *landing.Landed, tip string, before branchState, want slots) {
	if number < 1 {
		state.at(nil)
	}
	l := &modelLanding{id: landed.ID, agent: a.name, as: landing.As(landed.As), line: slices.Clone(state.line), changes: slots{}, has: want, before: tip, after: landed.After}
	next := before.clone()
	next.has = want
	for _, slot := range slotNames() {
		if want[slot] != before.has[slot] {
			l.changes[slot], next.from[slot] = before.has[slot], l.id
		}
	}
	next.landings[l.id] = standsIn
	l.instead = landed.Instead
	l.brought = map[*point]bool{l.line[len(l.line)-1]: true}
	for _, p := range l.line[1:] {
		had := false
		for id := range before.landings {
			had = had || m.landings[id].brought[p] && !slices.Contains(l.instead, id)
		}
		if !had {
			l.brought[p] = true
		}
	}
	m.landings[l.id] = l
	m.remember(next)
}

// mixed reports whether paw says that it cannot tell lost work from what came after it, and whether something else came into lines of the agent.
func (m *landModel) mixed(l lineState, err error) bool {
	if !strings.Contains(err.Error(), "cannot be told from what came after it") {
		return false
	}
	for _, p := range l.line {
		for slot, told := range p.news {
			if !slices.Contains(l.owned, slotOwner(slot)) {
				continue
			}
			if by := m.landings[told.from]; by == nil {
				return true
			} else if own := m.meets(l, by); own != nil && own.has[slot] != told.value {
				return true // of a turn that the agent was rewound from
			}
		}
	}
	return false
}

// checkMessage: title and trailers are of the agent's own work.
func (m *landModel) checkMessage(said string, a *modelAgent, landed *landing.Landed) {
	message := m.git(m.repo, "log", "-1", "--format=%B", landed.After)
	title, _, _ := strings.Cut(message, "\n")
	for name := range m.agents {
		if !slices.Contains(a.now.owned, name) && (strings.HasSuffix(title, " of "+name) || strings.Contains(message, "Paw-Agent: s/"+name+"\n")) {
			m.fail("%s: the message of another agent:\n%s", said, message)
		}
	}
	if landing.As(landed.As) == landing.Squash && !strings.Contains(message, "Paw-Agent: s/"+a.name) {
		m.fail("%s: no trailer:\n%s", said, message)
	}
}

func (m *landModel) stepUndo(*rand.Rand) string {
	tip := m.tip()
	l, err := landing.Undo(m.t.Context(), m.h, m.load(), 0, false)
	m.load()
	if err != nil {
		for _, one := range m.landings {
			if one.after == tip && m.main().landings[one.id] == standsIn && kindOf(err) != errs.Refused {
				m.fail("undo: %v", err)
			}
		}
		return "undo: " + err.Error()
	}
	if l.After != tip || m.tip() != l.Before {
		m.fail("undo: main was at %s, is at %s: %+v", tip, m.tip(), l)
	}
	return fmt.Sprintf("undo %d", l.ID)
}

// brought is what an agent becomes by what is new on main, with the slots that conflict, and what that tells of its own slots.
func (m *landModel) brought(a *modelAgent) (want lineState, conflicts []string, told map[string]news) {
	main := m.main()
	want, told = a.now.clone(), map[string]news{}
	for _, slot := range slotNames() {
		if !slices.Contains(want.owned, slotOwner(slot)) {
			want.has[slot] = main.has[slot]
			continue
		}
		base, ours, theirs := m.base(main, a.now, slot), a.now.has[slot], main.has[slot]
		if theirs != base {
			told[slot] = news{theirs, main.from[slot]}
		}
		switch {
		case ours == theirs || theirs == base:
		case ours == base:
			want.has[slot] = theirs
		default:
			conflicts = append(conflicts, slot)
		}
	}
	return want, conflicts, told
}

func (m *landModel) stepUpdate(r *rand.Rand) string {
	a := m.some(r)
	said := "update " + a.name
	want, conflicts, told := m.brought(a)
	updated, err := landing.Update(m.t.Context(), m.h, m.load(), a.name, "", false)
	m.load()
	switch {
	case kindOf(err) == errs.Conflict:
		if len(conflicts) == 0 && !m.mixed(a.now, err) {
			m.fail("%s: %v", said, err)
		}
		return said + ": conflict"
	case err != nil:
		m.fail("%s: %v", said, err)
	case updated.Nothing:
		if !want.has.equal(a.now.has) {
			m.fail("%s: nothing, and should\n%s", said, want.has.diff(a.now.has))
		}
		return said + ": nothing"
	case len(conflicts) > 0:
		m.fail("%s: should have conflicted in %q", said, conflicts)
	}
	undo := a.now.clone()
	a.undo = &undo
	a.now = want
	a.now.at(told)
	return said
}

// modelMerges is how often agents merge main themselves.
const modelMerges = 4

// stepMerge has an agent merge main itself. What git then does otherwise than an update is taken back.
func (m *landModel) stepMerge(r *rand.Rand) string {
	a := m.some(r)
	dir := m.worktree(a.name)
	want, conflicts, told := m.brought(a)
	if len(conflicts) > 0 || m.git(dir, "status", "--porcelain") != "" {
		return ""
	}
	was := m.git(dir, "rev-parse", "HEAD")
	if _, err := m.tryGit(dir, "merge", "-q", "--no-edit", "main"); err != nil {
		m.git(dir, "merge", "--abort")
		return ""
	}
	if m.git(dir, "rev-parse", "HEAD") == was {
		return ""
	}
	if !want.has.equal(m.read(dir)) {
		m.git(dir, "reset", "-q", "--hard", was)
		return ""
	}
	a.now = want
	a.now.at(told)
	return a.name + " merges main"
}

func (m *landModel) stepRewind(r *rand.Rand) string {
	a := m.some(r)
	number := r.IntN(len(a.turns))
	said := fmt.Sprintf("rewind %s %d", a.name, number)
	done, err := Rewind(m.t.Context(), m.h, m.load(), a.name, number, RewindOptions{})
	if err != nil {
		m.fail("%s: %v", said, err)
	}
	if done.RescueRef != "" {
		undo := a.now.clone()
		a.undo = &undo
	}
	a.now = a.turns[number].clone()
	return said
}

func (m *landModel) stepRewindUndo(r *rand.Rand) string {
	a := m.some(r)
	if a.undo == nil {
		return ""
	}
	said := "rewind " + a.name + " --undo"
	if _, err := UndoRewind(m.t.Context(), m.h, m.load(), a.name, false); err != nil {
		m.fail("%s: %v", said, err)
	}
	undo := a.now.clone()
	a.now, a.undo = *a.undo, &undo
	return said
}

// stepUser is a commit of the user's on main, mostly in slots of their own.
func (m *landModel) stepUser(r *rand.Rand) string {
	next := m.main().clone()
	names := slotNames()
	slot := "f0 user 0"
	for range 10 {
		if slot = names[r.IntN(len(names))]; slotOwner(slot) == "user" || r.IntN(4) == 0 && next.has[slot] != "" {
			break
		}
		slot = "f0 user 0"
	}
	next.has[slot], next.from[slot] = m.fresh("user"), 0
	m.write(m.repo, next.has)
	m.git(m.repo, "add", "-A")
	m.git(m.repo, "commit", "-q", "-m", "work of user")
	m.remember(next)
	return "user writes " + slot
}

func (m *landModel) stepAmend(r *rand.Rand) string {
	if _, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", "HEAD^"); err != nil {
		return ""
	}
	next := m.main().clone()
	squashed := true // else nothing tells its commits once their lines are others
	before := m.commits[m.git(m.repo, "rev-parse", "HEAD^")]
	for id := range next.landings {
		_, had := before.landings[id]
		squashed = squashed && (had || m.landings[id].as == landing.Squash)
	}
	if squashed && r.IntN(2) == 0 {
		next.has["f1 user 1"] = m.fresh("user")
		m.write(m.repo, next.has)
	}
	m.count++
	m.git(m.repo, "commit", "-q", "-a", "--amend", "-m", fmt.Sprintf("amended %d", m.count), "-m", m.git(m.repo, "log", "-1", "--format=%B"))
	m.remember(next)
	return "amend"
}

func (m *landModel) stepReset(r *rand.Rand) string {
	back := fmt.Sprintf("HEAD~%d", 1+r.IntN(3))
	if _, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", back); err != nil {
		return ""
	}
	to := m.git(m.repo, "rev-parse", back)
	if m.commits[to].has == nil { // a commit of an agent's, or in the middle of several
		return ""
	}
	m.git(m.repo, "reset", "-q", "--hard", back)
	return "reset " + back
}

// stepRevert reverts a landing that stands, where git can.
func (m *landModel) stepRevert(r *rand.Rand) string {
	next := m.main().clone()
	var ids []int
	for id, how := range next.landings {
		l := m.landings[id]
		if _, err := m.tryGit(m.repo, "merge-base", "--is-ancestor", l.after, "HEAD"); err == nil && how == standsIn && l.as == landing.Squash {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	l := m.landings[ids[r.IntN(len(ids))]]
	for slot, before := range l.changes {
		if next.has[slot] != l.has[slot] {
			return ""
		}
		next.has[slot], next.from[slot] = before, 0
	}
	if out, err := m.tryGit(m.repo, "revert", "--no-edit", l.after); err != nil {
		m.t.Fatalf("revert: %s", out)
	}
	next.landings[l.id] = revertIn
	m.remember(next)
	return fmt.Sprintf("revert %d", l.id)
}

// stepRebase puts the last commits of main on top of one that was not there.
func (m *landModel) stepRebase(r *rand.Rand) string {
	n := 1 + r.IntN(3)
	onto, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", fmt.Sprintf("HEAD~%d", n))
	if err != nil || m.git(m.repo, "rev-list", "--merges", onto+"..HEAD") != "" {
		return ""
	}
	next := m.main().clone()
	slot := "own-user user 0"
	if m.commits[onto].has == nil || m.commits[onto].has[slot] != next.has[slot] {
		return ""
	}
	value := m.fresh("user")
	old := m.commits[onto].clone()
	old.has[slot] = value
	m.git(m.repo, "switch", "-q", "--detach", onto)
	m.write(m.repo, old.has)
	m.git(m.repo, "add", "-A")
	m.git(m.repo, "commit", "-q", "-m", "pulled by user")
	m.git(m.repo, "branch", "-f", "side")
	m.git(m.repo, "switch", "-q", "main")
	if out, err := m.tryGit(m.repo, "rebase", "-q", "side"); err != nil {
		m.t.Fatalf("rebase: %s", out)
	}
	next.has[slot], next.from[slot] = value, 0
	m.remember(next)
	return fmt.Sprintf("rebase of the last %d", n)
}

// stepSquash makes the last commits of main one, as a server does.
func (m *landModel) stepSquash(r *rand.Rand) string {
	n := 2 + r.IntN(2)
	onto, err := m.tryGit(m.repo, "rev-parse", "-q", "--verify", fmt.Sprintf("HEAD~%d", n))
	if err != nil || m.git(m.repo, "rev-list", "--merges", onto+"..HEAD") != "" || m.commits[onto].has == nil {
		return ""
	}
	next := m.main()
	for id := range next.landings { // only what has trailers can be known again
		l := m.landings[id]
		if _, there := m.commits[onto].landings[id]; !there && (l.as != landing.Squash || next.landings[id] == revertIn) {
			return ""
		}
	}
	messages := m.git(m.repo, "log", "--reverse", "--format=%B", onto+"..HEAD")
	m.git(m.repo, "reset", "-q", "--soft", onto)
	if _, err := m.tryGit(m.repo, "commit", "-q", "--allow-empty", "-m", "squashed", "-m", messages); err != nil {
		m.t.Fatal(err)
	}
	m.remember(next)
	return fmt.Sprintf("squash of the last %d", n)
}

// stepAdd adds agent c: on top of main, or from a turn of another agent.
func (m *landModel) stepAdd(r *rand.Rand) string {
	if m.agents["c"] != nil {
		return ""
	}
	from := m.some(r)
	if len(from.turns) < 2 || r.IntN(2) == 0 || os.Getenv("PAW_MODEL_FROM") == "" {
		m.addAgent("c", m.tip(), lineState{has: maps.Clone(m.main().has), owned: []string{"c"}}, nil)
		m.recordAgent()
		return "add c"
	}
	number := 1 + r.IntN(len(from.turns)-1)
	state := from.turns[number].clone()
	state.owned = append([]string{"c"}, state.owned...)
	snapshot := m.git(m.repo, "rev-parse", turn.TurnRef("s_"+from.name, number))
	base := snapshot
	if strings.HasPrefix(m.git(m.repo, "log", "-1", "--format=%ae", snapshot), "paw@") {
		base = m.git(m.repo, "rev-parse", snapshot+"^")
	}
	m.addAgent("c", base, state, &session.Origin{Agent: from.name, Turn: number, Snapshot: snapshot})
	m.write(m.worktree("c"), state.has)
	m.recordAgent()
	return fmt.Sprintf("add c from %s@%d", from.name, number)
}

// recordAgent writes the newest agent into the record.
func (m *landModel) recordAgent() {
	w := m.s.Agents[len(m.s.Agents)-1]
	if _, err := m.h.Update(m.t.Context(), "s", func(rec *session.Session) error {
		rec.Agents = append(rec.Agents, w)
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
}
