package states

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/worktree/gittest"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

func TestMain(m *testing.M) { os.Exit(gittest.RunIsolated(m)) }

// world is a repository whose checkout is on main, with agents at work beside it.
type world struct {
	*gittest.World
	chains *Store
	taker  *snapshot.Taker
}

// worker is an agent with a worktree and a chain.
type worker struct {
	w    *world
	path string
	now  State
	n    int

	others  map[string]string // states of other agents, by commit
	once    []string          // twins that have landed
	befores []string          // on top of which commits
	afters  []string          // and as which
	commits []string          // which main has as these
}

func newWorld(t *testing.T) *world {
	w := &world{World: gittest.New(t)}
	w.Git("rm", "-q", "-r", ".")
	w.user("r", "readme")
	o := objects.New(w.Repository)
	r := refs.New(o)
	w.chains, w.taker = New(o, r), snapshot.New(o, r, journal.Reader{Repository: w.Repository})
	return w
}

// user commits files on main: name, content, and so on; no content removes a file.
func (w *world) user(files ...string) string {
	w.T.Helper()
	write(w.T, w.Dir, files...)
	return w.Commit("user")
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		if path := filepath.Join(dir, files[i]); files[i+1] != "" {
			gittest.WriteFile(t, path, files[i+1]+"\n")
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) tip() string { return w.Git("rev-parse", "main") }

// has returns the files of main.
func (w *world) has() string {
	var all []string
	for _, name := range strings.Fields(w.Git("ls-tree", "-r", "--name-only", "main")) {
		all = append(all, name+"="+w.Git("show", "main:"+name))
	}
	return strings.Join(all, " ")
}

func (w *world) agent(name string) *worker {
	path := w.Worktree(name)
	return &worker{w: w, path: path, now: State{Twin: w.tip(), Snapshot: w.tip(), Head: w.tip()}}
}

// child begins where another agent is.
func (a *worker) child(name string) *worker {
	path := filepath.Join(a.w.Side, "s", name)
	a.w.Git("worktree", "add", "-q", "-b", name, path, a.now.Head)
	gittest.In(a.w.T, path, "restore", "--source="+a.now.Snapshot, "--worktree", "--no-overlay", ":/")
	return &worker{w: a.w, path: path, now: a.now}
}

func (a *worker) git(args ...string) string {
	a.w.T.Helper()
	return gittest.In(a.w.T, a.path, args...)
}

// turn changes files, runs git commands, and takes the state.
func (a *worker) turn(files []string, commands ...string) State {
	a.w.T.Helper()
	write(a.w.T, a.path, files...)
	for _, command := range commands {
		a.git(strings.Fields(command)...)
	}
	a.now = a.next(a.w.chains)
	return a.now
}

func (a *worker) next(chains *Store) State {
	a.w.T.Helper()
	shot, err := a.w.taker.Take(a.w.T.Context(), a.path, "", "paw: state")
	if err != nil {
		a.w.T.Fatal(err)
	}
	a.n++
	next, err := chains.Next(a.w.T.Context(), a.now, Taken{
		Snapshot: shot.Commit, Head: a.git("rev-parse", "HEAD"), Name: fmt.Sprintf("%s %d", filepath.Base(a.path), a.n),
		AdminDir: gittest.GitDir(a.w.T, a.path), Dir: a.w.Dir,
		From:   func(context.Context) ([]string, error) { return []string{a.w.tip()}, nil },
		Others: func(context.Context) (map[string]string, error) { return a.others, nil },
	})
	if err != nil {
		a.w.T.Fatal(err)
	}
	return next
}

func (a *worker) lands(twin string) Lands {
	a.w.T.Helper()
	l, err := a.w.chains.Lands(a.w.T.Context(), Question{Dir: a.w.Dir, Tip: a.w.tip(), State: twin, Once: a.once, Landed: a.landed})
	if err != nil {
		a.w.T.Fatal(err)
	}
	return l
}

// landed finds the landings whose commits main has.
func (a *worker) landed(_ context.Context, ahead Ahead) (found []Landed, err error) {
	for i, twin := range a.once {
		if (ahead.Has(twin) || slices.Contains(ahead.Later, twin)) && strings.Contains(a.w.Git("rev-list", "main"), a.commits[i]) {
			found = append(found, Landed{twin, a.befores[i], a.afters[i], a.commits[i]})
		}
	}
	return found, nil
}

// land lands the present state, or another one, and says what became of it.
func (a *worker) land(twins ...string) string {
	a.w.T.Helper()
	twin := append(twins, a.now.Twin)[0]
	l := a.lands(twin)
	switch {
	case l.Nothing:
		return "nothing"
	case len(l.Conflicts) > 0:
		return "conflict"
	}
	if foreign, err := a.w.chains.Foreign(a.w.T.Context(), l, l.Tree, nil); len(foreign) > 0 || err != nil {
		a.w.T.Errorf("the landing changes %v: %v", foreign, err)
	}
	commit := a.w.Git("commit-tree", l.Tree, "-p", "main", "-m", "land")
	a.w.Git("reset", "-q", "--hard", commit)
	stands, err := a.w.chains.StandsFor(a.w.T.Context(), l, filepath.Base(a.path))
	if err == nil && stands != "" {
		err = a.w.chains.Graft(a.w.T.Context(), commit, stands)
	}
	if err != nil {
		a.w.T.Fatal(err)
	}
	a.once, a.befores = append(a.once, twin), append(a.befores, l.Tip)
	a.afters, a.commits = append(a.afters, commit), append(a.commits, commit)
	return "landed"
}

// update brings main into the worktree, as paw update does.
func (a *worker) update() {
	a.w.T.Helper()
	l := a.lands(a.now.Twin)
	if len(l.Conflicts) > 0 {
		a.w.T.Fatalf("conflict in %v", l.Conflicts)
	}
	twin, err := a.w.chains.Updated(a.w.T.Context(), l, filepath.Base(a.path))
	if err != nil {
		a.w.T.Fatal(err)
	}
	a.git("reset", "-q", "--hard", a.w.tip())
	a.git("restore", "--source="+twin, "--worktree", "--no-overlay", ":/")
	a.now = State{Twin: twin, Head: a.w.tip()}
	a.turn(nil)
}

func (w *world) expect(what, have, want string) {
	w.T.Helper()
	if have != want {
		w.T.Errorf("%s: %s, want %s", what, have, want)
	}
}

func files(all ...string) []string { return all }

func TestWorkLands(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(w *world)
	}{
		{"turn by turn, and own work that came back by an update and was dropped", func(w *world) {
			b, a := w.tip(), w.agent("a")
			a.turn(files("x", "1"))
			a.turn(files("y", "2"))
			w.expect("land", a.land()+" "+a.land()+" "+w.has(), "landed nothing r=readme x=1 y=2")
			w.Git("reset", "-q", "--soft", b) // the landing amended with a file of the user
			w.user("mine", "m")
			a.update()
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed r=readme x=1 y=2")
		}},
		{"an older turn with a pick of a landing, which a rebase has left out", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"), "add -A", "commit -q -m x")
			a.land()
			a.turn(files("x", "", "y", "1"))
			older := a.turn(nil, "add -A", "commit -q -m y", "cherry-pick main")
			a.turn(nil, "rebase -q main")
			w.expect("land", a.land()+" "+a.land(older.Twin)+" "+w.has(), "landed nothing r=readme y=1")
		}},
		{"a landing made anew without what it got, after a rewind to before it and an update", func(w *world) {
			b, a := w.tip(), w.agent("a")
			u := w.user("u", "u")
			one := a.turn(files("x", "1"), "add -A", "commit -q -m x", "merge -q --no-edit main")
			a.turn(files("x", "2"))
			a.land()
			a.now = one
			a.update()
			w.Git("rebase", "-q", "--onto", b, u)
			a.commits[0] = w.tip()
			w.expect("land", a.land()+" "+w.has(), "nothing r=readme x=2")
		}},
		{"reset --soft takes nothing of main back", func(w *world) {
			a := w.agent("a")
			a.turn(files("a", "1"))
			w.user("r", "more", "u", "u")
			a.turn(files("a2", "2"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 a2=2 r=more u=u")
		}},
		{"reset --soft past a merge, and main leaves what was got", func(w *world) {
			b, a := w.tip(), w.agent("a")
			w.user("u", "u")
			a.turn(files("a", "1"), "merge -q --ff-only main", "add -A", "commit -q -m one", "reset -q --soft "+b, "commit -q -m all")
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme")
		}},
		{"main's work that a reset by hand took out again, where HEAD before is not known", func(w *world) {
			b, a := w.tip(), w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a")
			w.user("u", "u")
			a.turn(nil, "merge -q --no-edit main")
			a.now.Head, a.now.Snapshot, a.now.Log = "", "", 0
			a.turn(files("b", "2"), "reset -q --hard "+b)
			w.expect("land", a.land()+" "+w.has(), "landed b=2 r=readme u=u")
		}},
		{"a merge that keeps the agent's side of a conflict", func(w *world) {
			a := w.agent("a")
			a.turn(files("r", "agent's"), "add -A", "commit -q -m agent")
			w.user("r", "user's", "u", "u")
			w.expect("land", a.land(), "conflict")
			a.turn(nil, "merge -q -X ours main")
			w.expect("land", a.land()+" "+w.has(), "landed r=agent's u=u")
		}},
		{"a rebase that was given up keeps no side of a conflict", func(w *world) {
			a := w.agent("a")
			a.turn(files("r", "agent's"), "add -A", "commit -q -m agent")
			w.user("r", "user's", "u", "u")
			if err := exec.Command("git", "-C", a.path, "rebase", "-q", "main").Run(); err == nil {
				w.T.Fatal("no conflict")
			}
			a.turn(files("b", "b"), "rebase --abort", "add -A", "commit -q -m more")
			w.expect("land", a.land(), "conflict")
		}},
		{"merged main, which had reverted its work in the same file", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1\n2\n3\n4\n5\n6\n7\n8\n9 a"), "add -A", "commit -q -m a")
			a.land()
			w.Git("revert", "--no-edit", "HEAD")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9")
			a.turn(files("b", "b"), "merge -q --no-edit main")
			w.Git("revert", "--no-edit", "HEAD")
			a.land()
			w.expect("land", fmt.Sprint(strings.Contains(w.has(), "1 user"), strings.Contains(w.has(), "b=b")), "false true")
		}},
		{"HEAD left a commit that changes nothing, and the work after it stays", func(w *world) {
			a := w.agent("a")
			b := w.user("u", "u")
			a.turn(nil, "merge -q --ff-only main")
			w.Git("commit", "-q", "--allow-empty", "-m", "nothing")
			a.turn(nil, "merge -q --ff-only main")
			a.turn(files("x", "1", "y", "1"), "add -A", "commit -q -m a")
			a.land()
			a.turn(files("x", "", "z", "1"), "add -A", "commit -q -m more", "rebase -q --onto "+b+" HEAD~2")
			w.expect("land", a.land()+" "+w.has(), "landed r=readme u=u y=1 z=1")
		}},
		{"a rebase that takes a commit along as it is, which main has left", func(w *world) {
			a := w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a")
			a.land()
			landed := w.tip()
			u := w.user("u", "u")
			a.git("merge", "-q", "--no-edit", "main")
			w.Git("reset", "-q", "--hard", landed)
			a.git("rebase", "-q", "main")
			w.Git("reset", "-q", "--hard", u)
			a.turn(files("b", "b"))
			w.Git("reset", "-q", "--hard", landed)
			w.expect("land", a.land()+" "+w.has(), "landed a=1 b=b r=readme")
		}},
		{"a rebase that leaves out what main has reverted", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"))
			a.land()
			w.Git("revert", "--no-edit", "HEAD")
			a.turn(nil, "add -A", "commit -q -m x", "rebase -q main")
			_, got, _ := strings.Cut(a.git("show", "-s", "--format=%P", a.now.Twin), " ")
			w.expect("got", got, w.tip())
		}},
		{"a rebase that was given up took nothing", func(w *world) {
			b := w.user("x", "1")
			a := w.agent("a")
			w.user("x", "", "r", "user's")
			write(w.T, a.path, "x", "", "r", "agent's")
			a.git("commit", "-q", "-a", "-m", "agent")
			if err := exec.Command("git", "-C", a.path, "rebase", "-q", "main").Run(); err == nil {
				w.T.Fatal("no conflict")
			}
			a.turn(nil, "rebase --abort")
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed r=agent's")
		}},
		{"reset --soft and an edit of the same file", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5")
			a := w.agent("a")
			a.turn(files("a", "1"))
			w.user("f", "1 user\n2\n3\n4\n5")
			write(w.T, a.path, "f", "1\n2\n3\n4\n5 a")
			a.turn(nil, "reset -q --soft main", "add -A", "commit -q -m soft")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 f=1 user\n2\n3\n4\n5 a r=readme")
		}},
		{"reset --soft and an edit of the same lines", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9 user")
			a.turn(files("f", "1\n2\n3\n4\n5\n6\n7\n8\n9 a"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset --soft over a rename, and a merge that brings lines into the old name", func(w *world) {
			b := w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			w.Git("mv", "f", "g")
			w.Commit("renamed")
			a.turn(files("x", "1"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.user("g", "1 user\n2\n3\n4\n5\n6\n7\n8\n9")
			a.turn(files("y", "1"), "add -A", "commit -q -m y", "merge -q --no-edit main")
			w.expect("merged", strings.SplitN(a.git("show", "HEAD:f"), "\n", 2)[0], "1 user")
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed f=1\n2\n3\n4\n5\n6\n7\n8\n9 r=readme x=1 y=1")
		}},
		{"reset --soft, and two merges that bring other lines of the same file", func(w *world) {
			b := w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9", "u", "u")
			a.turn(files("x", "1"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9 user")
			a.turn(nil, "merge -q --no-edit main")
			w.user("f", "1 user\n2\n3\n4\n5 user\n6\n7\n8\n9 users")
			a.turn(nil, "merge -q --no-edit main")
			w.expect("merged", a.git("show", "HEAD:f"), "1\n2\n3\n4\n5 user\n6\n7\n8\n9 users")
			tip := w.tip()
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed f=1\n2\n3\n4\n5\n6\n7\n8\n9 r=readme x=1")
			w.Git("reset", "-q", "--hard", tip)
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9")
			w.expect("land again", a.land()+" "+w.has(), "landed f=1 user\n2\n3\n4\n5\n6\n7\n8\n9 r=readme u=u x=1")
		}},
		{"reset --soft and its own version of what main has newly, of which git merges no lines", func(w *world) {
			w.user("f", "1")
			a := w.agent("a")
			w.user("bin", "\x00 user")
			a.turn(files("bin", "\x00 a"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset --soft and one more version of what conflicted before, of which git merges no lines", func(w *world) {
			w.user("bin", "\x00")
			a := w.agent("a")
			a.turn(files("bin", "\x00 a"))
			w.user("bin", "\x00 user")
			a.turn(files("bin", "\x00 b"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset and an edit of what it has renamed and main deleted", func(w *world) {
			w.user("f", "1\n2\n3")
			a := w.agent("a")
			a.turn(nil, "mv f g", "commit -q -m renamed")
			w.user("f", "")
			a.turn(files("g", "1\n2\n3 a"), "reset -q main")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset and an edit of what main has deleted", func(w *world) {
			w.user("f", "1\n2\n3")
			a := w.agent("a")
			w.user("f", "")
			a.turn(files("f", "1\n2\n3 a"), "reset -q main")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset and an edit of what conflicted before, of a file that main has renamed", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1 a\n2\n3\n4\n5\n6\n7\n8\n9"))
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9")
			w.Git("mv", "f", "g")
			w.Commit("renamed")
			a.turn(files("f", "1 a\n2\n3\n4\n5 a\n6\n7\n8\n9"), "reset -q --soft main", "add -A", "commit -q -m soft")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset --soft past a conflict, and a rebase that has none", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1 a\n2\n3\n4\n5\n6\n7\n8\n9"), "commit -q -a -m one")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9")
			w.user("u", "u")
			a.turn(files("f", "1 a\n2\n3\n4\n5 a\n6\n7\n8\n9"), "reset -q --soft main~1", "commit -q -a -m soft", "rebase -q main")
			w.expect("rebased", a.git("show", "HEAD:u"), "u")
			w.expect("land", a.land(), "conflict")
		}},
		{"reset --soft past a conflict, and a rebase in a later turn that has none", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1 a\n2\n3\n4\n5\n6\n7\n8\n9"), "commit -q -a -m one")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9 user")
			a.turn(nil, "reset -q --soft main", "commit -q -a -m soft")
			w.user("u", "u")
			a.turn(nil, "rebase -q main")
			w.expect("land", a.land(), "conflict")
		}},
		{"merged main and renamed its new file in one turn", func(w *world) {
			a := w.agent("a")
			w.user("u", "1\n2\n3\n4", "d/new", "1\n2\n3\n4\n5")
			a.turn(nil, "merge -q --no-edit main", "mv u v", "mv d e", "add -A", "commit -q -m moved")
			w.expect("land", a.land()+" "+w.has(), "landed e/new=1\n2\n3\n4\n5 r=readme v=1\n2\n3\n4")
		}},
		{"rebased onto main and removed its new file in one turn", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"), "add -A", "commit -q -m x")
			w.user("u", "1")
			a.turn(nil, "rebase -q main", "rm -q u", "commit -q -m removed")
			w.expect("land", a.land()+" "+w.has(), "landed r=readme x=1")
		}},
		{"merged main and put a line of it back as it was in one turn", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("x", "1"), "add -A", "commit -q -m x")
			w.user("f", "1\n2 user\n3\n4\n5\n6\n7\n8\n9 user")
			a.turn(nil, "merge -q --no-edit main")
			w.user("f", "1 user\n2 user\n3\n4\n5\n6\n7\n8\n9 user")
			a.git("merge", "-q", "--no-edit", "main")
			a.turn(files("f", "1\n2 user\n3\n4\n5 a\n6\n7\n8\n9 user"))
			w.expect("land", a.land()+" "+w.has(), "landed f=1\n2 user\n3\n4\n5 a\n6\n7\n8\n9 user r=readme x=1")
		}},
		{"reset --soft to a change, and a rebase onto its file's new name", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			w.user("f", "1\n2 user\n3\n4\n5\n6\n7\n8\n9")
			w.Git("mv", "f", "g")
			w.Commit("renamed")
			a.turn(nil, "reset -q --soft main~1", "add -A", "commit -q -m soft", "rebase -q main")
			w.expect("rebased", a.git("show", "HEAD:g"), "1\n2\n3\n4\n5\n6\n7\n8\n9")
			w.expect("land", a.land()+" "+w.has(), "nothing g=1\n2 user\n3\n4\n5\n6\n7\n8\n9 r=readme")
		}},
		{"a rebase onto a squash of its work, an edit in the same turn, and what it got before has left main", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1\n2 a\n3\n4\n5\n6\n7\n8\n9"), "add -A", "commit -q -m a")
			a.land()
			w.user("f", "1\n2 a\n3\n4\n5\n6\n7\n8 user\n9")
			a.update()
			a.turn(files("f", "1\n2 b\n3\n4\n5\n6\n7\n8 user\n9"), "commit -q -a -m b")
			w.Git("reset", "-q", "--soft", "HEAD~2")
			w.Git("commit", "-q", "-m", "squashed")
			a.git("rebase", "-q", "main")
			a.turn(files("f", "1\n2 b\n3\n4\n5 a\n6\n7\n8 user\n9"))
			w.expect("land", a.land()+" "+w.has(), "landed f=1\n2 b\n3\n4\n5 a\n6\n7\n8 user\n9 r=readme")
		}},
		{"another agent that has put all back is at the base", func(w *world) {
			a, c := w.agent("a"), w.agent("c")
			a.turn(files("a", "1"))
			a.land()
			c.others = map[string]string{c.now.Head: a.turn(files("a", "")).Twin}
			c.turn(nil, "reset -q --soft main", "commit -q -m soft")
			w.expect("land", c.land()+" "+w.has(), "nothing a=1 r=readme")
		}},
		{"reset --hard to before what it began with", func(w *world) {
			b := w.tip()
			w.user("u", "u")
			a := w.agent("a")
			a.turn(files("a", "1"))
			a.turn(files("x", "1"), "reset -q --hard "+b, "add -A", "commit -q -m x")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme u=u x=1")
		}},
		{"the first commit amended, and then reset --soft to main", func(w *world) {
			w.Git("checkout", "-q", "--orphan", "new")
			w.Git("commit", "-q", "-m", "first")
			w.Git("branch", "-M", "new", "main")
			a := w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q --amend --no-edit")
			w.user("u", "u")
			a.turn(nil, "reset -q --soft main", "commit -q -a -m soft")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme u=u")
		}},
		{"a merge taken back by a reset, and an edit of the same file in the same turn", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1\n2\n3\n4\n5\n6\n7\n8\n9 a"), "add -A", "commit -q -m a")
			w.user("f", "1\n2 user\n3\n4\n5\n6\n7\n8\n9", "u", "u")
			a.turn(nil, "merge -q --no-edit main")
			a.git("reset", "-q", "--hard", "HEAD~1")
			a.turn(files("f", "1\n2\n3\n4\n5 a\n6\n7\n8\n9 a"), "add -A", "commit -q -m five")
			w.expect("land", a.land()+" "+w.has(), "landed f=1\n2 user\n3\n4\n5 a\n6\n7\n8\n9 a r=readme u=u")
		}},
		{"gone back to a commit of main that it had merged, which had renamed its file", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1\n2\n3"), "add -A", "commit -q -m x")
			tip := w.user("x", "1\n2\n3")
			w.user("x", "", "z", "1\n2\n3")
			a.turn(nil, "merge -q --no-edit main")
			a.turn(files("y", "1"), "add -A", "commit -q --amend --no-edit")
			a.git("reset", "-q", "--hard", "main")
			a.now = State{Twin: a.now.Twin, Head: a.now.Head} // as an update leaves it
			a.turn(files("n", "1"))
			w.Git("reset", "-q", "--hard", tip)
			w.expect("land", a.land()+" "+w.has(), "landed n=1 r=readme x=1\n2\n3")
		}},
		{"a fast-forward of files that a reset has left behind", func(w *world) {
			w.user("f", "f", "p", "p")
			a := w.agent("a")
			w.user("new", "new", "p", "")
			a.turn(files("f", "a"), "reset -q main")
			w.user("n", "n")
			a.turn(nil, "merge -q main")
			w.expect("land", a.land()+" "+w.has(), "landed f=a n=n new=new r=readme")
		}},
		{"a rebase of files that a reset has left behind", func(w *world) {
			w.user("f", "f", "p", "p")
			a := w.agent("a")
			w.user("new", "new", "p", "")
			a.turn(files("f", "a"), "reset -q main")
			w.user("n", "n")
			a.turn(nil, "rebase -q --autostash main")
			w.expect("land", a.land()+" "+w.has(), "landed f=a n=n new=new r=readme")
		}},
		{"a merge taken back, and a reset to the same commit that moves no file", func(w *world) {
			a := w.agent("a")
			w.user("n", "n")
			a.turn(nil, "merge -q main", "reset -q --hard HEAD~1")
			a.turn(files("x", "x"), "reset -q --soft main", "add -A", "commit -q -m squashed")
			w.expect("land", a.land()+" "+w.has(), "landed n=n r=readme x=x")
		}},
		{"a merge taken back, and a reset to the same commit, in one turn", func(w *world) {
			a := w.agent("a")
			w.user("n", "n")
			a.turn(files("x", "x"), "merge -q main", "reset -q --hard HEAD~1", "reset -q --soft main", "add -A", "commit -q -m squashed")
			w.expect("land", a.land()+" "+w.has(), "landed n=n r=readme x=x")
		}},
		{"a reset that moves no file, to a main of which all commits were made anew", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "x"), "add -A", "commit -q -m x")
			w.Git("checkout", "-q", "--orphan", "anew")
			w.user("u", "u")
			w.Git("branch", "-q", "-M", "anew", "main")
			a.turn(nil, "reset -q --soft main", "commit -q -m squashed")
			w.expect("land", a.land()+" "+w.has(), "landed r=readme u=u x=x")
		}},
		{"a conflict with what main has left, resolved by hand", func(w *world) {
			b, a := w.tip(), w.agent("a")
			a.turn(files("r", "agent's"), "add -A", "commit -q -m agent")
			w.user("r", "user's", "u", "u")
			if err := exec.Command("git", "-C", a.path, "merge", "-q", "main").Run(); err == nil {
				w.T.Fatal("no conflict")
			}
			a.turn(files("r", "both's"), "add -A", "commit -q -m both")
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "conflict r=readme")
		}},
		{"rebased onto what was before its beginning", func(w *world) {
			b := w.tip()
			u := w.user("u", "u")
			a := w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a", "rebase -q --onto "+b+" "+u)
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme u=u")
		}},
		{"reset --soft to before what it began with", func(w *world) {
			b := w.tip()
			w.user("u", "u")
			a := w.agent("a")
			a.turn(files("a", "1"), "reset -q --soft "+b, "add -A", "commit -q -m all")
			w.Git("rm", "-q", "u")
			w.Git("commit", "-q", "-m", "without u")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme")
		}},
		{"merged main, which had reverted its line and changed another one", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			a := w.agent("a")
			a.turn(files("f", "1\n2\n3\n4\n5\n6\n7\n8\n9 a"), "add -A", "commit -q -m a")
			a.land()
			w.Git("revert", "--no-edit", "HEAD")
			w.user("f", "1 user\n2\n3\n4\n5\n6\n7\n8\n9")
			a.turn(files("b", "b"), "add -A", "commit -q -m b", "merge -q --no-edit main")
			w.expect("land", a.land()+" "+w.has(), "landed b=b f=1 user\n2\n3\n4\n5\n6\n7\n8\n9 r=readme")
			a.turn(files("f", "1 user\n2\n3\n4\n5 a\n6\n7\n8\n9 a"), "add -A", "commit -q -m more")
			w.expect("land again", a.land()+" "+w.has(), "landed b=b f=1 user\n2\n3\n4\n5 a\n6\n7\n8\n9 r=readme")
		}},
		{"what neither main nor the worktree has, after main has left what was got", func(w *world) {
			b, a := w.tip(), w.agent("a")
			w.user("u", "u")
			a.update()
			w.Git("reset", "-q", "--hard", b)
			a.turn(files("y", "quartz"), "add -A", "commit -q -m y")
			w.user("y", "quartz")
			a.turn(nil, "merge -q --no-edit main")
			w.Git("revert", "--no-edit", "HEAD")
			a.turn(files("z", "z"), "add -A", "commit -q -m z")
			a.turn(nil, "merge -q --no-edit main")
			w.expect("land", a.land()+" "+w.has(), "landed r=readme z=z")
		}},
		{"commits merged by hand and reverted, beside what was not committed", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"), "add -A", "commit -q -m x")
			a.turn(files("z", "1"))
			a.turn(files("y", "1"), "add y", "commit -q -m y")
			w.Git("merge", "-q", a.git("rev-parse", "HEAD"))
			w.Git("revert", "--no-edit", "HEAD")
			w.expect("land", a.land()+" "+w.has(), "landed r=readme x=1 z=1")
		}},
		{"amended what it got", func(w *world) {
			b, c, e := w.tip(), w.agent("c"), w.agent("e")
			e.turn(files("e", "e"))
			e.land()
			c.update()
			tip := w.tip()
			c.turn(files("c", "c"), "add -A", "commit -q --amend --no-edit")
			w.Git("reset", "-q", "--hard", b)
			w.expect("main has dropped that", c.land()+" "+w.has(), "landed c=c r=readme")
			w.Git("reset", "-q", "--hard", tip)
			w.user("e", "e, and on")
			w.expect("main goes on in it", c.land()+" "+w.has(), "landed c=c e=e, and on r=readme")
		}},
		{"got and amended in one turn", func(w *world) {
			b, a := w.tip(), w.agent("a")
			w.user("u", "u")
			write(w.T, a.path, "a", "1")
			a.turn(nil, "merge -q --ff-only main", "add -A", "commit -q --amend --no-edit")
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme")
		}},
		{"squashed on the server", func(w *world) {
			a := w.agent("a")
			a.turn(files("s", "1"))
			w.user("s", "1")
			w.user("u", "u")
			w.expect("land", a.land(), "nothing")
			a.turn(files("s", "1 and 2"))
			w.expect("next", a.land()+" "+w.has(), "landed r=readme s=1 and 2 u=u")
		}},
		{"squashed on the server, unseen", func(w *world) {
			a := w.agent("a")
			a.turn(files("s", "1"))
			w.user("s", "1")
			a.turn(files("s", "1 and 2"))
			w.expect("next", a.land()+" "+w.has(), "landed r=readme s=1 and 2")
		}},
		{"rebased itself on main", func(w *world) {
			a := w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a")
			w.user("u", "u")
			a.turn(nil, "rebase -q main")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme u=u")
			w.user("u", "u, and on")
			a.turn(files("a", "2"))
			w.expect("next", a.land()+" "+w.has(), "landed a=2 r=readme u=u, and on")
		}},
		{"merged main and rebased that away", func(w *world) {
			b, a := w.tip(), w.agent("a")
			a.turn(files("a", "1"))
			w.user("u", "u")
			a.turn(nil, "add -A", "commit -q -m a", "merge -q --no-edit main", "rebase -q "+b)
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme")
		}},
		{"merged main, which goes on", func(w *world) {
			a := w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a")
			w.user("u", "u")
			a.turn(nil, "merge -q --no-edit main")
			w.user("u", "u, and on")
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme u=u, and on")
		}},
		{"a rewind takes nothing off main", func(w *world) {
			a := w.agent("a")
			one := a.turn(files("x", "1"))
			a.turn(files("y", "2"))
			a.land()
			a.now = one
			a.turn(files("z", "3", "y", ""))
			w.expect("land", a.land()+" "+a.land(one.Twin)+" "+w.has(), "landed nothing r=readme x=1 y=2 z=3")
		}},
		{"put on main by the agent itself", func(w *world) {
			b, a := w.tip(), w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a")
			a.git("update-ref", "refs/heads/main", "HEAD")
			first := a.land()
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", first+" "+a.land()+" "+w.has(), "nothing landed a=1 r=readme")
		}},
		{"put on main by the agent itself, with a merge of main", func(w *world) {
			b, a := w.tip(), w.agent("a")
			w.user("u", "u")
			write(w.T, a.path, "a", "1")
			a.turn(nil, "add -A", "commit -q -m a", "merge -q --no-edit main", "update-ref refs/heads/main HEAD")
			a.land()
			w.Git("reset", "-q", "--hard", b)
			w.expect("land", a.land()+" "+w.has(), "landed a=1 r=readme")
		}},
		{"child and parent", func(w *world) {
			p := w.agent("p")
			p.turn(files("p", "1"))
			k := p.child("k")
			k.turn(files("k", "1"))
			p.turn(files("p", "2"))
			w.expect("land", k.land()+" "+p.land()+" "+k.land()+" "+w.has(), "landed landed nothing k=1 p=2 r=readme")
		}},
		{"reverted stays reverted, as in git", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"))
			a.land()
			w.Git("revert", "--no-edit", "HEAD")
			a.turn(files("y", "2"))
			w.expect("land", a.land()+" "+w.has(), "landed r=readme y=2")
			w.expect("parents in plain git", w.Git("log", "--format=%p", "-1", "main"), w.Git("rev-parse", "--short", "main^"))
		}},
		{"an update and a landing taken back by hand in the worktree", func(w *world) {
			a := w.agent("a")
			a.turn(files("a", "1"), "add -A", "commit -q -m a")
			a.land()
			w.user("u", "u")
			head := a.git("rev-parse", "HEAD")
			a.turn(nil, "merge -q --no-edit main")
			a.turn(nil, "reset -q --hard "+head)
			a.turn(files("b", "1"))
			w.expect("land", a.land()+" "+w.has(), "landed a=1 b=1 r=readme u=u")
		}},
		{"the base was amended", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"))
			write(w.T, w.Dir, "r", "amended")
			w.Git("commit", "-q", "-a", "--amend", "-m", "amended")
			w.expect("land", a.land()+" "+a.land()+" "+w.has(), "landed nothing r=amended x=1")
			a.turn(files("x", "2"))
			w.expect("next", a.land()+" "+w.has(), "landed r=amended x=2")
		}},
		{"a state from before an update that left a commit lands, and its file is renamed", func(w *world) {
			b, a := w.tip(), w.agent("a")
			w.user("u", "u")
			a.turn(files("x", "1"), "add -A", "commit -q -m a", "merge -q --no-edit main")
			before := a.turn(files("x", "1\n2"))
			w.Git("reset", "-q", "--hard", b)
			a.update()
			w.expect("land", a.land(before.Twin)+" "+w.has(), "landed r=readme x=1\n2")
			w.Git("mv", "x", "y")
			w.Commit("renamed")
			w.expect("now", a.land()+" "+w.has(), "nothing r=readme y=1\n2")
			a.turn(files("x", "1\n2\n3"))
			w.expect("next", a.land()+" "+w.has(), "landed r=readme y=1\n2\n3")
		}},
		{"an update that left a commit is undone after what followed it has landed, and its file is renamed", func(w *world) {
			b, a := w.tip(), w.agent("a")
			w.user("u", "u")
			a.turn(files("x", "1"), "add -A", "commit -q -m a", "merge -q --no-edit main")
			before := a.turn(files("x", "1\n2"))
			w.Git("reset", "-q", "--hard", b)
			a.update()
			w.expect("land", a.land()+" "+w.has(), "landed r=readme x=1\n2")
			w.Git("mv", "x", "y")
			w.Commit("renamed")
			a.git("reset", "-q", "--hard", before.Head)
			write(w.T, a.path, "x", "1\n2")
			a.now = before
			w.expect("now", a.land()+" "+w.has(), "nothing r=readme y=1\n2")
			a.turn(files("z", "3"))
			w.expect("next", a.land()+" "+w.has(), "landed r=readme y=1\n2 z=3")
		}},
		{"a rebase goes back to the commit of a reset --soft, and to the files that the chain began with", func(w *world) {
			a := w.agent("a")
			w.user("u", "u")
			a.turn(nil, "reset -q --soft main", "add -A", "commit -q -m soft")
			merge := a.git("commit-tree", w.tip()+"^{tree}", "-p", "HEAD", "-p", w.tip(), "-m", "merge")
			a.turn(nil, "reset -q --hard "+merge)
			a.turn(nil, "rebase -q main")
			w.expect("land", a.land()+" "+w.has(), "nothing r=readme u=u")
		}},
		{"an older state behind a landing that was amended", func(w *world) {
			a := w.agent("a")
			one := a.turn(files("x", "1"))
			two := a.turn(files("y", "2"))
			tip := w.user("x", "1 amended", "y", "2")
			w.user("x", "")
			l, err := w.chains.Lands(w.T.Context(), Question{
				Dir: w.Dir, Tip: w.tip(), State: one.Twin, Once: []string{two.Twin},
				Landed: func(_ context.Context, a Ahead) ([]Landed, error) {
					w.expect("later", fmt.Sprint(a.Later), fmt.Sprint([]string{two.Twin}))
					return []Landed{{two.Twin, one.Head, tip, tip}}, nil
				},
			})
			w.expect("land", fmt.Sprint(l.Nothing, err), "true <nil>")
		}},
		{"a file removed after the server had it", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1", "y", "1"))
			w.user("x", "1", "y", "1")
			a.turn(files("y", ""))
			w.expect("land", a.land()+" "+w.has(), "landed r=readme x=1")
		}},
		{"a file removed after the server had it, beside other work", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1", "y", "1"))
			w.user("x", "1", "y", "1")
			a.turn(files("y", "", "z", "3"))
			w.expect("land", a.land()+" "+w.has(), "landed r=readme x=1 z=3")
		}},
		{"who only reads sees what was got in part", func(w *world) {
			a := w.agent("a")
			w.user("u", "1", "v", "1")
			write(w.T, a.path, "u", "1", "x", "1")
			a.git("reset", "-q", "--soft", "main")
			w.user("u", "2")
			reader, drop, err := w.chains.plain.WithScratch()
			if err != nil {
				w.T.Fatal(err)
			}
			defer drop()
			chains := New(reader, w.chains.refs)
			l, err := chains.Lands(w.T.Context(), Question{Dir: w.Dir, Tip: w.tip(), State: a.next(chains).Twin})
			if err != nil {
				w.T.Fatal(err)
			}
			a.turn(nil)
			w.expect("tree", l.Tree, a.lands(a.now.Twin).Tree)
			w.expect("land", a.land()+" "+w.has(), "landed r=readme u=2 v=1 x=1")
		}},
		{"main was merged by hand, which keeps what main has reverted, and then main is reset", func(w *world) {
			w.user("s", "1\n2\n3\n4\n5\n6\n7\n8\n9")
			base := w.tip()
			a := w.agent("a")
			a.turn(files("s", "1 a\n2\n3\n4\n5\n6\n7\n8\n9"), "add -A", "commit -q -m s")
			a.land()
			w.Git("revert", "--no-edit", "HEAD")
			w.user("r", "more", "s", "1\n2\n3\n4\n5\n6\n7\n8\n9 u")
			a.turn(nil, "merge -q --no-edit main")
			w.Git("reset", "-q", "--hard", base)
			w.expect("land", a.land()+" "+w.has(), "landed r=readme s=1 a\n2\n3\n4\n5\n6\n7\n8\n9")
		}},
		{"a branch merged by hand comes back to its agent, which has gone on", func(w *world) {
			a := w.agent("a")
			a.turn(files("x", "1"), "add -A", "commit -q -m x")
			w.user("u", "u")
			a.turn(files("x", "2"))
			w.Git("merge", "-q", "--no-ff", "--no-edit", "a")
			a.turn(files("x", "3"), "commit -q -a -m three", "merge -q --no-edit main")
			w.Git("reset", "-q", "--hard", "HEAD~1")
			w.expect("land", a.land()+" "+w.has(), "landed r=readme u=u x=3")
		}},
		{"a commit taken back by its agent, reverted by the user, and merged by hand", func(w *world) {
			a := w.agent("a")
			a.turn(files("h3", "1"), "add -A", "commit -q -m h3")
			a.turn(files("h4", "1"))
			a.land()
			a.git("revert", "--no-edit", "HEAD")
			w.Git("revert", "--no-edit", "HEAD")
			w.Git("merge", "-q", "--no-ff", "--no-edit", "a")
			a.turn(nil)
			w.expect("land", a.land()+" "+w.has(), "nothing r=readme")
			a.turn(files("h5", "1"))
			w.expect("next", a.land()+" "+w.has(), "landed h5=1 r=readme")
		}},
		{"landed, taken back, and merged by hand with git, which knows of no landing", func(w *world) {
			w.user("f", "1")
			a := w.agent("a")
			a.turn(files("f", "2"))
			a.land()
			a.turn(files("f", "1", "x", "1"), "add -A", "commit -q -m x")
			w.Git("merge", "-q", "--no-edit", "a")
			w.expect("merged", w.has(), "f=2 r=readme x=1")
			w.expect("land", a.land()+" "+w.has(), "landed f=1 r=readme x=1")
		}},
		{"one of two commits picked by hand, which its agent has taken back", func(w *world) {
			a := w.agent("a")
			a.turn(files("y", "1"), "add -A", "commit -q -m y")
			a.turn(files("x", "1"), "add -A", "commit -q -m x")
			w.user("u", "u")
			w.Git("cherry-pick", "a")
			a.turn(files("x", ""))
			w.expect("land", a.land()+" "+a.land()+" "+w.has(), "landed nothing r=readme u=u y=1")
		}},
		{"a conflict in a file that only others have changed, resolved by a merge", func(w *world) {
			a, b := w.agent("a"), w.agent("b")
			b.turn(files("y", "1"), "add -A", "commit -q -m y")
			a.turn(files("f", "a"))
			a.land()
			landed := w.tip()
			users := w.user("f", "u")
			b.turn(nil, "rebase -q main")
			b.land()
			w.Git("rebase", "-q", "--onto", landed, users)
			b.commits[0] = w.tip()
			a.turn(files("f", "a2"))
			a.land()
			b.turn(nil, "merge -q --no-edit -X ours main")
			w.expect("land", b.land()+" "+w.has(), "nothing f=a2 r=readme y=1")
		}},
		{"the first of two landings dropped, and the second one reverted", func(w *world) {
			base := w.user("f", "1\n2\n3\n4\n5\n6\n7\n8")
			a := w.agent("a")
			a.turn(files("x", "1"))
			a.land()
			first := w.tip()
			a.turn(files("y", "1", "f", "1\n2\n3\n4\n5\n6\n7\n8 a"))
			a.land()
			w.Git("rebase", "-q", "--onto", base, first)
			a.commits[1] = w.tip()
			w.Git("revert", "--no-edit", "HEAD")
			a.turn(files("z", "1"))
			w.expect("land", a.land()+" "+w.has(), "landed f=1\n2\n3\n4\n5\n6\n7\n8 r=readme x=1 z=1")
			w.expect("again", a.land(), "nothing")
		}},
		{"a new file in a folder that main has renamed, in two states", func(w *world) {
			w.Git("config", "merge.directoryRenames", "true")
			w.user("d/one", "one", "d/two", "two")
			a := w.agent("a")
			a.turn(files("d/new", "new"))
			a.turn(files("d/new", "newer"))
			w.Git("mv", "d", "e")
			w.Commit("renamed")
			w.expect("land", a.land()+" "+w.has(), "landed e/new=newer e/one=one e/two=two r=readme")
		}},
		{"renamed on main", func(w *world) {
			w.user("f", "1\n2\n3\n4\n5\n6\n7\n8")
			a := w.agent("a")
			a.turn(files("f", "1\n2\n3\n4\n5\n6\n7\n8 changed"))
			w.Git("mv", "f", "g")
			w.Commit("renamed")
			w.expect("land", a.land()+" "+fmt.Sprint(strings.Contains(w.has(), "g=1\n2\n3\n4\n5\n6\n7\n8 changed")), "landed true")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.do(w)
			w.hidden()
		})
	}
}

// hidden checks that no twin is in the history of a branch or tag.
func (w *world) hidden() {
	w.T.Helper()
	if seen := w.Git("log", "--branches", "--tags", "--remotes", "--grep=^"+Subject, "--format=%s"); seen != "" {
		w.T.Errorf("a branch has %s", seen)
	}
	w.Git("fsck", "--no-dangling")
}

func TestMadeByTheLogOfHEAD(t *testing.T) {
	w := newWorld(t)
	a := w.agent("a")
	first := a.now.Head
	a.turn(files("a", "1"), "add -A", "commit -q -m a")
	admin := gittest.GitDir(t, a.path)
	log, err := readHeadLog(admin)
	if begin := (State{Head: first}); err != nil || !log.since(begin.Head, begin.Log).onlyCommits(first, a.now.Head) {
		t.Errorf("%v: %v, not only commits", log, err)
	}
	if len(log.since(a.now.Head, a.now.Log)) > 0 || a.now.Log != LogSize(admin) {
		t.Errorf("%v since %v", log.since(a.now.Head, a.now.Log), a.now)
	}
	w.user("u", "u")
	a.git("merge", "-q", "--no-edit", "main")
	merge := a.git("rev-parse", "HEAD")
	a.git("reset", "-q", "--hard", "main")
	if log, err = readHeadLog(admin); err != nil || log.since(a.now.Head, a.now.Log).onlyCommits(a.now.Head, w.tip()) {
		t.Errorf("%v: %v, only commits", log, err)
	}
	if made := log.made(); len(made) != 2 || !made[merge] || made[w.tip()] {
		t.Errorf("made: %v", slices.Collect(maps.Keys(made)))
	}
}

// TestBlameNamesCommitsOfWhichSomeWasGot has an agent take one of the files of a commit.
func TestBlameNamesCommitsOfWhichSomeWasGot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user("x", "1", "y", "1")
	a := w.agent("a")
	a.turn(files("z", "z"))
	main := w.user("x", "2", "y", "2")
	a.turn(nil, "reset -q --soft main", "checkout -q main x", "commit -q -m own")
	o, drop, err := w.chains.plain.WithScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	for _, commit := range []string{a.now.Twin, main} {
		lines, err := New(o, w.chains.refs).Blame(t.Context(), objects.BlameOptions{Commit: commit, Path: "x"})
		if err != nil || len(lines) != 1 || lines[0].Commit != main || lines[0].Author != "Ann" || lines[0].Own != "" {
			t.Errorf("x is of %+v, want %s; %v", lines, main, err)
		}
	}
	if log := w.Git("log", "--format=%s", a.now.Twin); !strings.Contains(log, partOf) {
		t.Errorf("nothing was got in part:\n%s", log)
	}
}
