package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mkfifo(file string) error { return syscall.Mkfifo(file, 0o600) }

// trustAll agrees to everything the repository asks for.
func trustAll(t *testing.T, p place) {
	t.Helper()
	if err := p.Trust(p.repo, p.load(t).Untrusted); err != nil {
		t.Fatal(err)
	}
}

func TestEveryTextThatRunsNeedsTrust(t *testing.T) {
	p := newPlace(t)
	p.user(t, "[clis.mine]\ncommand = ['mine']\nargs = ['--safe']\n")
	p.repository(t, `
default_cli = "mine"
[worktree]
path = "/tmp/{agent}"
setup = "npm ci && echo <done>"
copy = [".env"]
[tmux]
socket = "/tmp/other/socket"
[clis.mine]
args = []
prompt = "send"
[clis.theirs]
command = ["sh", "-c", "a && <b>"]
resume = ["{id}"]
env = { B = "2", A = "1" }
[clis.codex]
git_writable = true
[prompts]
fix = "Fix it"
`)
	asked := []Command{
		{"worktree.path", "/tmp/{agent}"},
		{"worktree.setup", "npm ci && echo <done>"},
		{"tmux.socket", "/tmp/other/socket"},
		{"clis.mine.args", "[]"},
		{"clis.theirs.command", `["sh","-c","a && <b>"]`},
		{"clis.theirs.resume", `["{id}"]`},
		{"clis.theirs.env", `{"A":"1","B":"2"}`},
		{"clis.codex.git_writable", "true"},
		{"prompts.fix", "Fix it"},
	}
	before := p.load(t)
	if diff := cmp.Diff(asked, before.Untrusted); diff != "" {
		t.Errorf("untrusted:\n%s", diff)
	}
	want := Default()
	want.DefaultCLI = "mine"
	want.Worktree.Copy = []string{".env"}
	want.CLIs = map[string]CLI{"mine": {Command: []string{"mine"}, Args: []string{"--safe"}}}
	if diff := cmp.Diff(want, before.Config); diff != "" {
		t.Errorf("before trust:\n%s", diff)
	}
	wantKeys := []string{"default_cli", "worktree.copy"}
	if diff := cmp.Diff(wantKeys, before.Sources[1].Keys); diff != "" {
		t.Errorf("keys said to come from the repository:\n%s", diff)
	}

	trustAll(t, p)
	after := p.load(t)
	if len(after.Untrusted) != 0 {
		t.Errorf("still untrusted: %v", after.Untrusted)
	}
	want.Worktree.Path, want.Worktree.Setup = "/tmp/{agent}", "npm ci && echo <done>"
	want.Tmux.Socket = "/tmp/other/socket"
	want.CLIs = map[string]CLI{
		"mine":   {Command: []string{"mine"}, Args: []string{}, Prompt: "send"},
		"theirs": {Command: []string{"sh", "-c", "a && <b>"}, Resume: []string{"{id}"}, Env: map[string]string{"A": "1", "B": "2"}},
		"codex":  {GitWritable: true},
	}
	want.Prompts = map[string]string{"fix": "Fix it"}
	if diff := cmp.Diff(want, after.Config); diff != "" {
		t.Errorf("after trust:\n%s", diff)
	}
}

func TestHarmlessRepositorySettingsNeedNoTrust(t *testing.T) {
	p := newPlace(t)
	p.repository(t, `
default_cli = "codex"
[worktree]
path = "{parent}/{repo}-trees/{session}/{agent}"
copy = [".env"]
link = ["node_modules"]
setup = ""
[tmux]
socket = "named"
layout = "windows"
[turns]
snapshot_mib = 512
[agents]
max_depth = 1
[clis.codex]
git_writable = false
prompt = "arg"
[presets.p]
cli = ["codex"]
`)
	l := p.load(t)
	if len(l.Untrusted) != 0 {
		t.Errorf("untrusted: %v", l.Untrusted)
	}
	if l.Worktree.Path != "{parent}/{repo}-trees/{session}/{agent}" || l.Tmux.Socket != "named" || l.DefaultCLI != "codex" {
		t.Errorf("got %+v", l.Config)
	}
}

func TestRepositoryLoosensLimitsOnlyWithTrust(t *testing.T) {
	p := newPlace(t)
	p.user(t, "[agents]\nmax_children = 3\n")
	p.repository(t, "[turns]\nsnapshot_mib = 1\nsnapshot_seconds = 4\n[agents]\nmax_depth = 1000\nmax_children = 2\nbrief_kib = 65\n")
	l := p.load(t)
	asked := []Command{{"turns.snapshot_mib", "1"}, {"turns.snapshot_seconds", "4"}, {"agents.max_depth", "1000"}, {"agents.brief_kib", "65"}}
	if diff := cmp.Diff(asked, l.Untrusted); diff != "" {
		t.Errorf("untrusted:\n%s", diff)
	}
	without := Default()
	without.Agents.MaxChildren = 2
	if diff := cmp.Diff(without, l.Config); diff != "" {
		t.Error(diff)
	}
	trustAll(t, p)
	if l := p.load(t); len(l.Untrusted) != 0 || l.Turns.SnapshotMiB != 1 || l.Agents.MaxDepth != 1000 {
		t.Errorf("trusted: %+v", l.Config)
	}
}

func TestUserFileAndEnvironmentNeedNoTrust(t *testing.T) {
	p := newPlace(t)
	p.user(t, everything)
	l := p.load(t, "PAW_WORKTREE_SETUP=make", "PAW_WORKTREE_PATH=/x/{agent}", "PAW_TMUX_SOCKET=/x/y")
	if len(l.Untrusted) != 0 || l.Worktree.Setup != "make" || l.Worktree.Path != "/x/{agent}" || l.Tmux.Socket != "/x/y" {
		t.Errorf("untrusted %v, got %+v", l.Untrusted, l.Config)
	}
}

func TestRepositoryTemplateLeavesItsPlaceOnlyWithTrust(t *testing.T) {
	for template, free := range map[string]bool{
		"{parent}/{repo}.paw/{session}/{agent}": true,
		"{parent}/{repo}/{agent}":               true,
		"{parent}/{repo}/../.config/{agent}":    false,
		"{parent}/.config/autostart/{agent}":    false,
		"{parent}/../{repo}/{agent}":            false,
		"{parent}{repo}":                        false,
		"/etc/{repo}":                           false,
	} {
		p := newPlace(t)
		p.repository(t, fmt.Sprintf("worktree.path = %q\n", template))
		if got := len(p.load(t).Untrusted) == 0; got != free {
			t.Errorf("%s: free %v, want %v", template, got, free)
		}
	}
}

func TestChangedTextAsksAgain(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "worktree.setup = 'npm ci'\n")
	trustAll(t, p)
	for _, changed := range []string{"npm ci ", " npm ci", "npm  ci", "npm ci\n", "NPM ci", "npm ci; curl evil"} {
		p.repository(t, fmt.Sprintf("worktree.setup = %q\n", changed))
		l := p.load(t)
		if l.Worktree.Setup != "" || len(l.Untrusted) != 1 || l.Untrusted[0].Text != changed {
			t.Errorf("%q: setup %q, untrusted %v", changed, l.Worktree.Setup, l.Untrusted)
		}
	}
	p.repository(t, "worktree.setup = 'npm ci'\n")
	if got := p.load(t).Worktree.Setup; got != "npm ci" {
		t.Errorf("the trusted text is back, setup is %q", got)
	}
}

func TestSameWordsInOtherArgumentsAskAgain(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "clis.x.command = ['sh', '-c a']\n")
	trustAll(t, p)
	p.repository(t, "clis.x.command = ['sh', '-c', 'a']\n")
	if l := p.load(t); len(l.Untrusted) != 1 || len(l.CLIs) != 0 {
		t.Errorf("untrusted %v, clis %v", l.Untrusted, l.CLIs)
	}
}

func TestOneUntrustedTextLeavesOutTheWholeProgram(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "clis.x.command = ['sandbox']\nclis.y.command = ['y']\n")
	trustAll(t, p)
	p.repository(t, "clis.x.command = ['sandbox']\nclis.x.args = ['--off']\nclis.y.command = ['y']\n")
	l := p.load(t)
	if diff := cmp.Diff([]Command{{"clis.x.args", `["--off"]`}}, l.Untrusted); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]CLI{"y": {Command: []string{"y"}}}, l.CLIs); diff != "" {
		t.Error(diff)
	}
}

func TestTrustBelongsToOneRepositoryAndKey(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "worktree.setup = 'npm ci'\n")
	trustAll(t, p)

	other := p
	other.repo = filepath.Join(filepath.Dir(p.repo), "other")
	if err := os.Mkdir(other.repo, 0o700); err != nil {
		t.Fatal(err)
	}
	other.repository(t, "worktree.setup = 'npm ci'\n")
	if l := other.load(t); len(l.Untrusted) != 1 {
		t.Errorf("another repository: untrusted %v", l.Untrusted)
	}

	linked := p
	linked.repo = filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.repo, linked.repo); err != nil {
		t.Fatal(err)
	}
	for _, repo := range []string{linked.repo, p.repo + "/", filepath.Dir(p.repo) + "/./" + filepath.Base(p.repo)} {
		linked.repo = repo
		if l := linked.load(t); len(l.Untrusted) != 0 {
			t.Errorf("the same repository as %s: untrusted %v", repo, l.Untrusted)
		}
	}

	p.repository(t, "clis.codex.args = []\nclis.gemini.args = []\n")
	if err := p.Trust(p.repo, []Command{{"clis.codex.args", "[]"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Command{{"clis.gemini.args", "[]"}}, p.load(t).Untrusted); diff != "" {
		t.Error(diff)
	}
}

func TestTrustFileIsPrivateAndOutsideTheRepository(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "worktree.setup = 'make'\n")
	old := syscall.Umask(0)
	trustAll(t, p)
	syscall.Umask(old)
	for file, want := range map[string]os.FileMode{p.StateDir: 0o700, p.TrustFile(): 0o600} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", file, info.Mode().Perm(), want)
		}
	}
	entries, err := os.ReadDir(p.repo)
	if err != nil || len(entries) != 1 {
		t.Errorf("the repository holds %v, %v", entries, err)
	}
	// A file that was readable by others does not stay so.
	if err := os.Chmod(p.TrustFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.Trust(p.repo, []Command{{"k", "v"}}); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(p.TrustFile()); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o after the second save", info.Mode().Perm())
	}
	if err := p.Trust(p.repo, []Command{{"worktree.setup", "a && <b>"}}); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(p.TrustFile()); !strings.Contains(string(content), `"a && <b>"`) {
		t.Errorf("a user cannot read %s", content)
	}
	leftovers, _ := filepath.Glob(filepath.Join(p.StateDir, ".*"))
	if len(leftovers) != 0 {
		t.Errorf("temporary files stay: %v", leftovers)
	}
}

func TestTrustFileIsWrittenThroughALink(t *testing.T) {
	p := newPlace(t)
	target := filepath.Join(t.TempDir(), "kept.json")
	write(t, target, `{"version":1,"repositories":{}}`)
	if err := os.MkdirAll(p.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, p.TrustFile()); err != nil {
		t.Fatal(err)
	}
	if err := p.Trust(p.repo, []Command{{"worktree.setup", "make"}}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(p.TrustFile()); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if content, _ := os.ReadFile(target); !strings.Contains(string(content), "make") {
		t.Errorf("the target holds %s", content)
	}
}

func TestManyTrustAtOnceAndNothingIsLost(t *testing.T) {
	p := newPlace(t)
	var text strings.Builder
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		fmt.Fprintf(&text, "clis.c%d.command = ['run']\n", i)
		wg.Go(func() { errs[i] = p.Trust(p.repo, []Command{{fmt.Sprintf("clis.c%d.command", i), `["run"]`}}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	p.repository(t, text.String())
	if l := p.load(t); len(l.Untrusted) != 0 || len(l.CLIs) != len(errs) {
		t.Errorf("untrusted %v, %d clis", l.Untrusted, len(l.CLIs))
	}
}

func TestTrustRecordThatCannotBeReadTrustsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		aside   bool // the next Trust moves the file aside and succeeds
	}{
		"torn":            {`{"version":1,"repositor`, true},
		"empty":           {``, true},
		"other shape":     {`{"version":1,"repositories":{"/x":["a"]}}`, true},
		"null":            {`null`, true},
		"no version":      {`{"repositories":{}}`, true},
		"no repositories": {`{"version":1}`, true},
		"newer":           {`{"version":2,"repositories":"elsewhere"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.repository(t, "default_cli = 'demo'\nworktree.setup = 'make'\n")
			trustAll(t, p)
			write(t, p.TrustFile(), c.content)
			l := p.load(t)
			if l.TrustProblem == nil || !strings.Contains(l.TrustProblem.Error(), p.TrustFile()) {
				t.Errorf("problem %v", l.TrustProblem)
			}
			if len(l.Untrusted) != 1 || l.Worktree.Setup != "" || l.DefaultCLI != "demo" {
				t.Errorf("untrusted %v, got %+v", l.Untrusted, l.Config)
			}

			err := p.Trust(p.repo, l.Untrusted)
			aside, _ := filepath.Glob(p.TrustFile() + ".corrupt-*")
			if !c.aside {
				content, _ := os.ReadFile(p.TrustFile())
				if !errors.Is(err, errTrustVersion) || string(content) != c.content || len(aside) != 0 {
					t.Errorf("got %v, file %s, aside %v", err, content, aside)
				}
				return
			}
			if err != nil || len(aside) != 1 {
				t.Fatalf("got %v, aside %v", err, aside)
			}
			if kept, _ := os.ReadFile(aside[0]); string(kept) != c.content {
				t.Errorf("moved aside: %q", kept)
			}
			if l := p.load(t); l.TrustProblem != nil || l.Worktree.Setup != "make" {
				t.Errorf("afterwards: %v, setup %q", l.TrustProblem, l.Worktree.Setup)
			}
		})
	}
}

func TestCorruptTrustMattersOnlyWhenAsked(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "default_cli = 'demo'\n")
	if err := os.MkdirAll(p.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, p.TrustFile(), "{")
	if l := p.load(t); l.TrustProblem != nil {
		t.Errorf("problem %v", l.TrustProblem)
	}
}

func TestTrustOfNothing(t *testing.T) {
	p := newPlace(t)
	if err := p.Trust(p.repo, nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.StateDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	if err := p.Trust("", []Command{{"worktree.setup", "make"}}); err == nil {
		t.Error("trust without a repository succeeded")
	}
}
