package session

import (
	"errors"
	"os"
	"path/filepath"
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

func (w world) mustFind(t *testing.T, path, want string) {
	t.Helper()
	s, err := w.st.FindByRepo(path)
	got := ""
	if s != nil {
		got = s.Name
	}
	if err != nil || got != want {
		t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
	}
}

func TestFindByRepo(t *testing.T) {
	w := newWorld(t)
	links := t.TempDir()
	link := func(name, to string) string {
		path := filepath.Join(links, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	toOne := link("one", w.one)
	w.mustFind(t, w.one, "app")
	w.mustFind(t, w.one+"/", "app")
	w.mustFind(t, filepath.Join(w.one, "deep", "er"), "app")
	w.mustFind(t, filepath.Join(w.one, "deep", "er", "not", "yet"), "app")
	w.mustFind(t, filepath.Join(w.one, ".git"), "app")
	w.mustFind(t, filepath.Join(w.one, ".git", "worktrees"), "app")
	w.mustFind(t, toOne, "app")
	w.mustFind(t, filepath.Join(toOne, "deep"), "app")
	w.mustFind(t, link("deep", filepath.Join(w.one, "deep", "er")), "app")
	w.mustFind(t, w.claude, "app")
	w.mustFind(t, filepath.Join(w.codex, "src", "pkg"), "app")
	w.mustFind(t, link("claude", w.claude), "app")
	w.mustFind(t, w.two, "app_2")
	w.mustFind(t, w.elsewhere, "app_2")

	w.mustFind(t, "", "")
	w.mustFind(t, "/", "")
	w.mustFind(t, links, "")
	w.mustFind(t, filepath.Dir(w.one), "")    // above a repository
	w.mustFind(t, filepath.Dir(w.claude), "") // above a worktree
	w.mustFind(t, w.one+"2", "")              // only the beginning is the same

	t.Chdir(filepath.Join(w.one, "deep"))
	w.mustFind(t, ".", "app")
	w.mustFind(t, "../..", "")
}

// The path in the record may be the one with the link.
func TestFindByRepoWhenTheRecordHasALink(t *testing.T) {
	w := newWorld(t)
	real := mkdir(t, t.TempDir(), "repo")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	w.save(t, "linked", link)
	w.mustFind(t, real, "linked")
	w.mustFind(t, link, "linked")
}

// The worktree is gone, and someone looks for its session by the recorded path.
func TestFindByRepoOfAMissingWorktree(t *testing.T) {
	w := newWorld(t)
	if err := os.RemoveAll(w.claude); err != nil {
		t.Fatal(err)
	}
	w.mustFind(t, w.claude, "app")
	w.mustFind(t, w.codex, "app")
}

// With two sessions in a repository only the main worktree is ambiguous; an agent's worktree has one session.
func TestFindByRepoNamesTheSeveral(t *testing.T) {
	w := newWorld(t)
	own := mkdir(t, filepath.Dir(w.one), "app.paw", "another", "claude")
	w.save(t, "another", w.one, own)
	for _, path := range []string{w.one, filepath.Join(w.one, "deep"), filepath.Join(w.one, ".git")} {
		s, err := w.st.FindByRepo(path)
		var several *AmbiguousError
		if s != nil || !errors.As(err, &several) || !cmp.Equal(names(several.Sessions), []string{"another", "app"}) {
			t.Errorf("%s: got %v, %v", path, s, err)
		}
	}
	w.mustFind(t, own, "another")
	w.mustFind(t, w.claude, "app")
}

// A repository inside another, such as one inside a home directory under git, is not the outer one's.
func TestFindByRepoStopsAtAnotherRepository(t *testing.T) {
	w := newWorld(t)
	inner := mkdir(t, w.one, "vendor", "lib")
	mkdir(t, inner, ".git")
	mkdir(t, inner, "src")
	w.mustFind(t, inner, "")
	w.mustFind(t, filepath.Join(inner, "src"), "")
	w.mustFind(t, filepath.Dir(inner), "app")
	w.save(t, "inner", inner)
	w.mustFind(t, filepath.Join(inner, "src"), "inner")
}

func TestFindByRepoOfABareRepository(t *testing.T) {
	w := newWorld(t)
	bare := mkdir(t, t.TempDir(), "app.git")
	s := minimal("bare", "")
	s.GitCommonDir = bare
	mustSave(t, w.st, s)
	w.mustFind(t, bare, "bare")
	w.mustFind(t, filepath.Join(bare, "refs"), "bare")
	w.mustFind(t, w.one, "app")
}

func TestFindByRepoPassesOverWhatItCannotRead(t *testing.T) {
	w := newWorld(t)
	mustWrite(t, w.st, "aaa", "{")
	mustWrite(t, w.st, "bbb", "")
	mustWrite(t, w.st, "ccc", `{"version": 2}`)
	w.mustFind(t, w.one, "app")
	w.mustFind(t, t.TempDir(), "")
}

func TestFindByRepoWithoutSessions(t *testing.T) {
	st := newStore(t)
	if s, err := st.FindByRepo(t.TempDir()); s != nil || err != nil {
		t.Errorf("without a folder: got %v, %v", s, err)
	}
	mkdir(t, st.Dir)
	if s, err := st.FindByRepo(t.TempDir()); s != nil || err != nil {
		t.Errorf("with an empty folder: got %v, %v", s, err)
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
	agent := mkdir(t, odd, "agent", "src")
	w.save(t, "odd", odd, filepath.Dir(agent))
	w.save(t, "outer", filepath.Dir(odd))
	w.mustFind(t, agent, "odd")
}
