package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is a machine with two repositories of the same name, one of them with a session of two agents.
type world struct {
	st                       Store
	one, two                 string // main worktrees
	claude, codex, elsewhere string // worktrees of agents of one, and of two
}

func newWorld(t *testing.T) world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{
		st: newStore(t), one: filepath.Join(dir, "1", "app"), two: filepath.Join(dir, "2", "app"),
		claude: filepath.Join(dir, "1", "app.paw", "app", "claude"), codex: filepath.Join(dir, "1", "app.paw", "app", "codex"),
		elsewhere: filepath.Join(dir, "2", "app.paw", "app_2", "claude"),
	}
	mkdir(t, w.one, "deep/er")
	mkdir(t, w.one, ".git/worktrees")
	mkdir(t, w.two, ".git")
	for _, worktree := range []string{w.claude, w.codex, w.elsewhere} {
		mkdir(t, worktree, "src/pkg")
		if err := os.WriteFile(filepath.Join(worktree, ".git"), []byte("gitdir: x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.save(t, "app", w.one, w.claude, w.codex)
	w.save(t, "app_2", w.two, w.elsewhere)
	return w
}

func (w world) save(t *testing.T, name, repo string, worktrees ...string) {
	t.Helper()
	s := minimal(name, repo)
	s.GitCommonDir = filepath.Join(repo, ".git")
	for _, path := range worktrees {
		s.Agents = append(s.Agents, Agent{Name: filepath.Base(path), WorktreePath: path})
	}
	mustSave(t, w.st, s)
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func names(sessions []*Session) []string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.Name)
	}
	return out
}

// mustFind wants some sessions, with blanks between, of the first of several directories that has one.
func (w world) mustFind(t *testing.T, want string, places ...string) {
	t.Helper()
	here, err := w.st.At(places...)
	if got := strings.Join(names(here), " "); err != nil || got != want {
		t.Errorf("%s: got %q, %v, want %q", places, got, err, want)
	}
}

func TestAt(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.one, link); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{w.one, filepath.Join(w.one, ".git"), link, w.claude, w.codex} {
		w.mustFind(t, "app", place)
	}
	w.mustFind(t, "app_2", w.two)
	w.mustFind(t, "app_2", w.elsewhere)
	w.mustFind(t, "app_2", "", filepath.Join(w.one, "deep"), w.elsewhere, w.one)

	w.mustFind(t, "")
	w.mustFind(t, "", "", "/", filepath.Dir(w.one), filepath.Dir(w.claude), filepath.Join(w.one, "deep"), w.one+"2")

	bare := mkdir(t, t.TempDir(), "app.git")
	s := minimal("bare", "")
	s.GitCommonDir = bare
	mustSave(t, w.st, s)
	w.mustFind(t, "bare", bare)
	w.mustFind(t, "app", w.one)

	if err := os.RemoveAll(w.claude); err != nil { // and is looked for by the recorded path
		t.Fatal(err)
	}
	w.mustFind(t, "app", w.claude)
}

// The path in the record may be the one with the link.
func TestAtWhenTheRecordHasALink(t *testing.T) {
	w := newWorld(t)
	real := mkdir(t, t.TempDir(), "repo")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	w.save(t, "linked", link)
	w.mustFind(t, "linked", real)
	w.mustFind(t, "linked", link)
}

// With two sessions in a repository only the main worktree has both; an agent's worktree has one session.
func TestAtNamesTheSeveral(t *testing.T) {
	w := newWorld(t)
	own := mkdir(t, filepath.Dir(w.one), "app.paw", "another", "claude")
	w.save(t, "another", w.one, own)
	w.mustFind(t, "another app", w.one)
	w.mustFind(t, "another app", filepath.Join(w.one, ".git"))
	w.mustFind(t, "another", own, w.one)
	w.mustFind(t, "app", w.claude, w.one)
}

func TestAtPassesOverWhatItCannotRead(t *testing.T) {
	w := newWorld(t)
	w.mustFind(t, "", t.TempDir())
	mustWrite(t, w.st, "aaa", "{")
	mustWrite(t, w.st, "bbb", "")
	mustWrite(t, w.st, "ccc", `{"version": 2}`)
	w.mustFind(t, "app", w.one)
	if here, err := newStore(t).At(w.one); len(here) > 0 || err != nil {
		t.Errorf("without a folder: got %v, %v", here, err)
	}
}

func TestList(t *testing.T) {
	st := newStore(t)
	if sessions, unreadable, err := st.List(); len(sessions)+len(unreadable) != 0 || err != nil {
		t.Errorf("without a folder: got %v, %v, %v", sessions, unreadable, err)
	}
	for _, name := range []string{"foo_bar", "foo", "Zed", "foo1"} {
		mustSave(t, st, minimal(name, "/r"))
	}
	mustWrite(t, st, "empty", "")
	mustWrite(t, st, "newer", `{"version": 3}`)
	mustWrite(t, st, "not-a-name", `{"version": 1}`)
	mustWrite(t, st, "copy", read(t, st, "foo")) // names another session
	mkdir(t, st.Dir, "folder.json")
	for _, passedOver := range []string{".foo.json123", ".foo.json", "foo.json.corrupt-20260301T120000Z", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(st.Dir, passedOver), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sessions, unreadable, err := st.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sessions {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"Zed", "foo", "foo1", "foo_bar"}, got); diff != "" {
		t.Error(diff)
	}
	if len(unreadable) != 5 {
		t.Errorf("got %d errors: %v", len(unreadable), unreadable)
	}
	for _, err := range unreadable {
		if !IsUnreadable(err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestAmong(t *testing.T) {
	active, other := &Session{Name: "active", Status: StatusActive}, &Session{Name: "other", Status: StatusActive}
	stopped, old := &Session{Name: "stopped", Status: StatusStopped}, &Session{Name: "old", Status: StatusStopped}
	for _, c := range []struct {
		sessions []*Session
		want     *Session
	}{
		{nil, nil},
		{[]*Session{active}, active},
		{[]*Session{stopped}, stopped},
		{[]*Session{stopped, active, old}, active},
		{[]*Session{stopped, old}, nil},
		{[]*Session{active, stopped, other}, nil},
	} {
		if got := Among(c.sessions); got != c.want {
			t.Errorf("of %v: %v, want %v", names(c.sessions), got, c.want)
		}
	}
}

// TestSessionIsFoundWhateverItsPathsAreCalled has names that JSON writes in another way.
func TestSessionIsFoundWhateverItsPathsAreCalled(t *testing.T) {
	w := newWorld(t)
	odd := mkdir(t, w.one, "..", "odd <&> \"name\"\t\u2028 é")
	agent := mkdir(t, odd, "agent")
	w.save(t, "odd", odd, agent)
	w.mustFind(t, "odd", odd)
	w.mustFind(t, "odd", agent)
}
