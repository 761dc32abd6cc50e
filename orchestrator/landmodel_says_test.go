package orchestrator

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
)

// brought holds what a landing of a state made of main, maybe nothing, against the sentences:
//   - what no own work of the agent wrote stays as it is, and no file gets another name;
//   - what the agent wrote, and main's history does not have, main has then as the agent has it;
//   - what main's history has stays as main has it, also where that is without it: older than what has landed, or reverted; with again, what
//     was reverted comes back.
//
// Of a write that came into the history by hand, or in a commit that was made anew, either is right.
func (m *landModel) brought(said string, s state, before, after files, again bool) {
	m.t.Helper()
	was, is, has, p := before.values(), after.values(), s.files.values(), m.past()
	for _, key := range differ(was, is) {
		_, out := p.out[m.ids[is[key]]]
		if own := again && out && is[key] == has[key]; len(s.writes[key]) == 0 && !own { // its own that it was rewound from, and got with main
			m.fail("foreign", "%s: changes %s of others from %q to %q", said, key, was[key], is[key])
		}
	}
	for path, file := range before.renamed(after) {
		if ids := s.writes[file]; !s.renames[file] && (!p.renamed || !slices.ContainsFunc(ids, func(id int) bool { return p.writes[id] == perhaps })) { // else it may land again, under its first name
			m.fail("renamed", "%s: %s has another name now", said, path)
		}
	}
	for key, ids := range s.writes {
		last := ids[len(ids)-1]
		wrote := m.writes[last].value
		reverted, out := p.out[last]
		switch {
		case len(m.parties[key]) > 1 || s.kept[last]: // others wrote there too, or it is open whether this is new work
		case p.renamed && slices.ContainsFunc(ids, func(id int) bool { return p.writes[id] == perhaps }): // may land again, under its first name
		case p.renamed && was[key] != "" && (!slices.Contains(ids, m.ids[was[key]]) || m.removed(ids)): // written anew, beside what main has under another name
		case again && p.renamed: // comes under its first name
		case is[key] != was[key] && is[key] != has[key] && is[key] != wrote:
			m.fail("invented", "%s: %s was %q, the agent has %q, is %q", said, key, was[key], has[key], is[key])
		case has[key] != wrote: // the agent got something else since
		case again && out && reverted == was[key] && is[key] != has[key]:
			m.fail("not again", "%s: %s is %q, the agent has %q", said, key, is[key], has[key])
		case !again && p.writes[last] >= asIs && is[key] != was[key]:
			m.fail("brought back", "%s: %s was %q, is %q, and write %d is in the history", said, key, was[key], is[key], last)
		case p.writes[last] == unknown && is[key] != has[key]:
			m.fail("left out", "%s: %s is %q, the agent has %q, and write %d is not in the history", said, key, is[key], has[key], last)
		}
	}
}

// removed says whether one of some writes has removed what was there.
func (m *landModel) removed(ids []int) bool {
	return slices.ContainsFunc(ids, func(id int) bool { return m.writes[id].value == "" })
}

// mayConflict says whether something speaks for a conflict of a state with main. Nothing does where main has, in all that the agent wrote and
// main's history does not have, what the agent had there itself, and has all that the agent got.
func (m *landModel) mayConflict(s state) bool {
	p, main := m.past(), m.readFiles(m.repo).values()
	if p.renamed || s.foreign || m.left(s) || m.alike { // of files that are alike, git may take one for the other, renamed
		return true
	}
	for key, ids := range s.writes {
		if p.writes[ids[len(ids)-1]] >= asIs {
			continue
		}
		own := main[key] == "" || slices.ContainsFunc(ids, func(id int) bool { return m.writes[id].value == main[key] })
		if !own || p.touched[key] || len(m.parties[key]) > 1 {
			return true
		}
	}
	return false
}

// left says whether main has left something that the agent got.
func (m *landModel) left(s state) bool {
	history := strings.Fields(m.git(m.repo, "rev-list", "main"))
	return slices.ContainsFunc(s.got, func(one string) bool { return !slices.Contains(history, one) })
}

// lost says whether main's history has something that the agent wrote, and main has it no more.
func (m *landModel) lost(s state) bool {
	p, main := m.past(), m.readFiles(m.repo).values()
	for key, ids := range s.writes {
		if last := ids[len(ids)-1]; p.writes[last] != unknown && main[key] != m.writes[last].value {
			return true
		}
	}
	return false
}

// newInIt says whether a state has a write that main's history does not have.
func (m *landModel) newInIt(s state) bool {
	p := m.past()
	for _, ids := range s.writes {
		if p.writes[ids[len(ids)-1]] < asIs {
			return true
		}
	}
	return false
}

// land lands an agent, or the end of one of its turns, and holds it against the sentences.
func (m *landModel) land(a *modelAgent, number int, as landing.As, again, look, twice bool) string {
	a.take()
	said, name, s, o := "land "+a.name, a.name, a.now, landing.Options{As: as, NoCheck: true, Again: again}
	if number > 0 {
		o.Turn, s = itoa(number), a.turns[number]
		said += "@" + o.Turn
	}
	if said += " --as " + string(as); again {
		said += " --again"
	}
	before, tip, guard := m.readFiles(m.repo), m.tip(), m.guard(name)
	var shown []string
	if look {
		shown = m.looked(said, a, o)
		m.guarded(said, name, guard)
	}
	landed, err := landing.Land(m.t.Context(), m.h, m.load(), name, o)
	m.load()
	m.guarded(said, name, guard)
	if err != nil {
		if now := m.readFiles(m.repo); m.tip() != tip || !maps.Equal(now, before) {
			m.fail("moved", "%s: %v, and main has moved", said, err)
		}
		return said + ": " + m.notLanded(said, s, o, err)
	}
	if landed.Nothing {
		m.brought(said+": nothing", s, before, before, again)
		m.pasts[tip] = m.past().with(s, perhaps) // from now on paw may take main for having it
		return said + ": nothing"
	}
	m.learn(said, s, as, before, tip, again)
	m.clean(said)
	if look {
		files := strings.Fields(m.git(m.repo, "diff", "--name-only", "--no-renames", tip, m.tip()))
		if !slices.Equal(files, shown) {
			m.fail("shown", "%s: diff and dry run show %q, it changes %q", said, shown, files)
		}
	}
	if tip = m.tip(); twice && !again {
		landed, err := landing.Land(m.t.Context(), m.h, m.load(), name, o)
		if nothing := err == nil && landed.Nothing || lostOnly(err); !nothing || m.tip() != tip {
			m.fail("twice", "%s: the second time is not nothing: %v", said, err)
		}
	}
	return said
}

// learn holds a landing against the sentences, and remembers it.
func (m *landModel) learn(said string, s state, as landing.As, before files, tip string, again bool) {
	m.t.Helper()
	m.pasts[m.tip()] = m.pasts[tip]
	m.brought(said, s, before, m.readFiles(m.repo), again)
	how := surely
	if as != landing.Squash {
		how = asIs
	}
	m.pasts[m.tip()], m.landed[m.tip()] = m.past().with(s, how), s.clone()
}

// lostOnly is the refusal of what main has lost: it lands with --again alone.
func lostOnly(err error) bool {
	return kindOf(err) == errs.Refused && strings.Contains(err.Error(), "lacks its work in")
}

// claims is the refusal of what an agent has committed on top of main without what main has got since.
func (m *landModel) claims(err error) bool {
	return m.anew && kindOf(err) == errs.Refused && strings.Contains(err.Error(), "its commits take back what its files never had")
}

// notLanded holds the error of a landing against the sentences.
func (m *landModel) notLanded(said string, s state, o landing.Options, err error) string {
	m.t.Helper()
	switch kind := kindOf(err); {
	case lostOnly(err):
		files := m.readFiles(m.repo)
		m.brought(said+": lost", s, files, files, false)
		return "lost"
	case kind == errs.Conflict && (o.As == landing.Commits || o.Again): // each commit has to fit, and all that was reverted
		return "conflict"
	case kind == errs.Conflict && !m.newInIt(s) && !m.past().renamed: // a rename that the agent took without the rest is not told apart
		m.fail("conflict of nothing", "%s: %v", said, err)
	case kind == errs.Conflict && !m.mayConflict(s):
		m.fail("conflict", "%s: %v", said, err)
	case kind == errs.Conflict:
		return "conflict"
	case kind == errs.Refused && (o.As == landing.Merge || s.foreign || m.left(s)), o.As == landing.Commits && m.claims(err):
		return "refused: " + err.Error()
	case kind == errs.Refused:
		m.fail("refused", "%s: %v", said, err)
	default:
		m.fail("error", "%s: %v", said, err)
	}
	return ""
}

// looked are the files that a dry run and the diff of an agent show.
func (m *landModel) looked(said string, a *modelAgent, o landing.Options) []string {
	o.DryRun = true
	plan, err := landing.Land(m.t.Context(), m.h, m.load(), a.name, o)
	if err != nil {
		return nil
	}
	if o.Turn == "" && !o.Again && o.As == landing.Squash {
		c, err := Compare(m.t.Context(), m.h, m.load(), a.name, DiffOptions{Reads: true})
		if err != nil {
			m.fail("error", "%s: diff: %v", said, err)
		}
		defer c.Close()
		var patch bytes.Buffer
		if err := c.Patch(m.t.Context(), DiffOptions{}, &patch); err != nil {
			m.fail("error", "%s: diff: %v", said, err)
		}
		var files []string
		for line := range strings.Lines(patch.String()) {
			if paths, ok := strings.CutPrefix(line, "diff --git a/"); ok {
				old, now, _ := strings.Cut(strings.TrimSpace(paths), " b/")
				files = append(files, old, now)
			}
		}
		slices.Sort(files)
		if files = slices.Compact(files); !slices.Equal(files, plan.Listed) {
			m.fail("shown", "%s: diff shows %q, the dry run %q", said, files, plan.Listed)
		}
	}
	return plan.Listed
}

// guarded are the files, the index and the HEAD of a worktree, which nothing but update and rewind may change.
type guarded struct {
	files files
	index string
	head  string
}

func (m *landModel) guard(agent string) guarded {
	dir := m.worktree(agent)
	index, _ := os.ReadFile(filepath.Join(m.repo, ".git", "worktrees", agent, "index"))
	return guarded{m.readFiles(dir), string(index), m.head(dir)}
}

func (m *landModel) guarded(said, agent string, before guarded) {
	m.t.Helper()
	now := m.guard(agent)
	if !maps.Equal(now.files, before.files) || now.head != before.head || now.index != before.index {
		m.fail("worktree", "%s: the worktree has changed: files %v, index %v, HEAD %s %s", said,
			!maps.Equal(now.files, before.files), now.index != before.index, before.head, now.head)
	}
}

// clean holds the checkout of main against its commit.
func (m *landModel) clean(said string) {
	m.t.Helper()
	if left := m.git(m.repo, "status", "--porcelain"); left != "" {
		m.fail("checkout", "%s: main is not clean: %s", said, left)
	}
}

// updated holds what an update made of a worktree against the sentences:
//   - what is not the agent's own is as in main, and has the names that it has there;
//   - its own work is as it was, or as main has it where main's history knows it.
func (m *landModel) updated(said string, a *modelAgent, before, after files) {
	m.t.Helper()
	main := m.readFiles(m.repo)
	was, is, has, p := before.values(), after.values(), main.values(), m.past()
	for _, key := range differ(is, has) {
		if len(a.now.writes[key]) == 0 && !a.now.foreign {
			m.fail("update", "%s: %s is %q, main has %q", said, key, is[key], has[key])
		}
	}
	own := map[string]bool{}
	for key, ids := range a.now.writes {
		own[fileOf(key)] = true
		last := ids[len(ids)-1]
		wrote := m.writes[last].value
		switch {
		case p.renamed && slices.ContainsFunc(ids, func(id int) bool { return p.writes[id] == perhaps }): // may be there twice, under both names
		case has[key] != "" && main.places()[fileOf(key)] == "": // main has it twice
		case p.renamed && partyOf(key) != a.name: // picked, and main has it under another name
		case is[key] != was[key] && is[key] != has[key] && is[key] != wrote:
			m.fail("update invented", "%s: %s was %q, main has %q, is %q", said, key, was[key], has[key], is[key])
		case len(m.parties[key]) == 1 && !a.now.kept[last] && was[key] == wrote && p.writes[last] == unknown && is[key] != was[key]:
			m.fail("update lost", "%s: %s was %q, is %q, and write %d is not in the history", said, key, was[key], is[key], last)
		}
	}
	places, there := main.places(), after.places()
	for file, path := range there {
		if at, known := places[file]; known && at != path && !own[file] && !a.now.foreign {
			m.fail("update renamed", "%s: %s is %s in main", said, path, at)
		}
	}
}

// ended holds the repository at the end of a world against the sentences: no hidden state of paw is in what the user sees, and it is whole.
func (m *landModel) ended() {
	for line := range strings.Lines(m.git(m.repo, "log", "--branches", "--tags", "--remotes", "--format=%h %s")) {
		if id, title, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(title, "paw: state") {
			m.fail("twin", "%s (%s) is in what the user sees", id, title)
		}
	}
	if out, err := m.tryGit(m.repo, "fsck", "--no-dangling", "--no-progress"); err != nil {
		m.fail("fsck", "%s", out)
	}
}

// unchanged holds all worktrees against what the model knows of them.
func (m *landModel) unchanged(said string) {
	m.t.Helper()
	for name, a := range m.agents {
		if now := m.readFiles(m.worktree(name)); !maps.Equal(now, a.now.files) {
			m.fail("worktree", "%s: %s has %v, had %v", said, name, differ(now, a.now.files), now)
		}
	}
}
