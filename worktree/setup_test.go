package worktree

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/config/disk"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// prepared is a repository that ignores these patterns, and an agent's worktree.
func prepared(t *testing.T, ignore string) (*world, Plan) {
	t.Helper()
	w := newWorld(t)
	w.write(".gitignore", ignore)
	w.commit("ignore")
	return w, w.made("agent")
}

// setUp runs SetUp without a command and checks that git sees nothing of it.
func (w *world) setUp(p Plan, copyGlobs, link []string) []Problem {
	w.t.Helper()
	problems := w.m.Setups().SetUp(w.t.Context(), p.Path, Setup{Copy: copyGlobs, Link: link})
	if got := gitIn(w.t, p.Path, "status", "--porcelain"); got != "" {
		w.t.Errorf("status says %q", got)
	}
	return problems
}

func wantProblems(t *testing.T, got []Problem, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i].String(), want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestSetUpCopiesIgnoredFilesWithTheirMode(t *testing.T) {
	w, p := prepared(t, ".env\n*.local\n")
	w.write(".env", "KEY=1\n")
	w.write("pkg/deep/x.local", "local\n")
	os.Chmod(filepath.Join(w.Dir, ".env"), 0o600)
	os.Chmod(filepath.Join(w.Dir, "pkg/deep/x.local"), 0o777)
	wantProblems(t, w.setUp(p, []string{".env", "*.local"}, nil))
	for name, mode := range map[string]os.FileMode{".env": 0o600, "pkg/deep/x.local": 0o777} {
		if info, err := os.Stat(filepath.Join(p.Path, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if got := readFile(t, filepath.Join(p.Path, ".env")); got != "KEY=1\n" {
		t.Errorf("got %q", got)
	}
}

func TestSetUpThatFailsIsRepeated(t *testing.T) {
	w, p := prepared(t, "")
	for _, c := range []struct {
		command string
		left    bool
	}{{"exit 3", true}, {"kill -9 $$", true}, {"true", false}} {
		problems := w.m.Setups().SetUp(t.Context(), p.Path, Setup{Command: c.command, Env: os.Environ(), Out: io.Discard})
		if left := w.m.Setups().Unprepared(p.Path); left != c.left || len(problems) > 0 != c.left {
			t.Errorf("%s: unprepared %t, problems %v", c.command, left, problems)
		}
	}
}

func TestSetUpNeverOverwrites(t *testing.T) {
	w, p := prepared(t, ".env\nmodules\n")
	w.write(".env", "main\n")
	w.write("modules/x", "main\n")
	writeFile(t, filepath.Join(p.Path, ".env"), "agent\n")
	writeFile(t, filepath.Join(p.Path, "modules/y"), "agent\n")
	before := tree(t, p.Path)
	wantProblems(t, w.setUp(p, []string{".env"}, []string{"modules"}))
	if diff := cmp.Diff(before, tree(t, p.Path)); diff != "" {
		t.Error(diff)
	}
}

func TestSetUpSkipsWhatGitWouldShow(t *testing.T) {
	w, p := prepared(t, "")
	w.write(".env", "KEY=1\n")
	w.write("modules/x", "x\n")
	wantProblems(t, w.setUp(p, []string{".env"}, []string{"modules"}), ".env: not copied: git does not ignore it", "modules: not linked: git would not ignore")
}

func TestSetUpLinksIgnoredFolder(t *testing.T) {
	w, p := prepared(t, "/node_modules\n")
	w.write("node_modules/m/index.js", "x\n")
	wantProblems(t, w.setUp(p, nil, []string{"node_modules", "missing"}))
	if got, _ := os.Readlink(filepath.Join(p.Path, "node_modules")); got != filepath.Join(w.Dir, "node_modules") {
		t.Errorf("link to %q", got)
	}
	wantProblems(t, w.setUp(p, nil, []string{"node_modules"})) // again
}

func TestSetUpDoesNotLinkWherePatternMatchesFoldersOnly(t *testing.T) {
	w, p := prepared(t, "node_modules/\n")
	w.write("node_modules/m/index.js", "x\n")
	wantProblems(t, w.setUp(p, nil, []string{"node_modules"}), "node_modules: not linked")
	if disk.Exists(filepath.Join(p.Path, "node_modules")) {
		t.Error("it was linked")
	}
}

func TestSetUpCopiesFolderWithLinksAsLinks(t *testing.T) {
	w, p := prepared(t, "build/\n")
	w.write("build/bin/tool", "x\n")
	w.write("outside", "x\n")
	for name, target := range map[string]string{"build/rel": "bin/tool", "build/abs": "/etc", "build/dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(w.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	wantProblems(t, w.setUp(p, []string{"build"}, nil))
	for name, target := range map[string]string{"build/rel": "bin/tool", "build/abs": "/etc", "build/dangling": "nowhere"} {
		if got, _ := os.Readlink(filepath.Join(p.Path, name)); got != target {
			t.Errorf("%s links to %q", name, got)
		}
	}
	if got := readFile(t, filepath.Join(p.Path, "build/bin/tool")); got != "x\n" {
		t.Errorf("got %q", got)
	}
}

func TestSetUpStaysInsideTheRepository(t *testing.T) {
	w, p := prepared(t, "*.local\nout\n")
	writeFile(t, filepath.Join(filepath.Dir(w.Dir), "secret.local"), "x")
	wantProblems(t, w.setUp(p, []string{"../secret.local", "/etc/hostname"}, []string{"../secret.local"}),
		"../secret.local: leaves", "/etc/hostname: leaves", "../secret.local: leaves")
}

func TestSetUpDoesNotFollowLinkOutOfTheWorktree(t *testing.T) {
	w := newWorld(t)
	outside := realTemp(t)
	w.write(".gitignore", "*.local\n")
	if err := os.Symlink(outside, filepath.Join(w.Dir, "conf")); err != nil {
		t.Fatal(err)
	}
	w.commit("link")
	p := w.made("agent")
	os.Remove(filepath.Join(w.Dir, "conf"))
	w.write("conf/x.local", "x\n")
	w.write("y.local", "y\n")
	wantProblems(t, w.setUp(p, []string{"conf/*.local", "y.local"}, nil), "conf/x.local: not copied")
	if got := tree(t, outside); len(got) != 1 {
		t.Errorf("outside holds %v", got)
	}
	if got := readFile(t, filepath.Join(p.Path, "y.local")); got != "y\n" {
		t.Errorf("got %q", got)
	}
}

func TestSetUpRunsCommandInWorktree(t *testing.T) {
	w, p := prepared(t, "out\n")
	var out bytes.Buffer
	problems := w.m.Setups().SetUp(t.Context(), p.Path, Setup{
		Command: `pwd; echo "$KEY" >&2; echo "${GIT_DIR-none}"; git rev-parse --show-toplevel`, Out: &out,
		Env: []string{"PATH=" + os.Getenv("PATH"), "KEY=with space", "GIT_DIR=" + w.Dir},
	})
	wantProblems(t, problems)
	if want := p.Path + "\nwith space\nnone\n" + p.Path + "\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestSetUpReportsFailedCommand(t *testing.T) {
	w, p := prepared(t, "")
	var out bytes.Buffer
	problems := w.m.Setups().SetUp(t.Context(), p.Path, Setup{Command: "echo no; exit 7", Out: &out, Env: os.Environ()})
	wantProblems(t, problems, "set-up command: exit status 7")
	if out.String() != "no\n" {
		t.Errorf("got %q", out.String())
	}
}

// streamed tells when something is written.
type streamed chan string

func (s streamed) Write(b []byte) (int, error) { s <- string(b); return len(b), nil }

func TestSetUpStreamsOutputWhileTheCommandRuns(t *testing.T) {
	w, p := prepared(t, "")
	fifo := filepath.Join(realTemp(t), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	out := make(streamed, 1)
	done := make(chan []Problem)
	go func() {
		done <- w.m.Setups().SetUp(t.Context(), p.Path, Setup{Command: "echo first; cat " + fifo, Out: out, Env: os.Environ()})
	}()
	select {
	case got := <-out:
		if got != "first\n" {
			t.Errorf("got %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no output before the end")
	}
	writeFile(t, fifo, "")
	wantProblems(t, <-done)
}

func TestSetUpRefusesDirectoryThatIsNoWorktree(t *testing.T) {
	w, _ := prepared(t, "")
	problems := w.m.Setups().SetUp(t.Context(), w.Dir, Setup{Command: "touch ran"})
	wantProblems(t, problems, ".: ")
	if disk.Exists(filepath.Join(w.Dir, "ran")) {
		t.Error("the command ran")
	}
}
