package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// place has the folders of a user and of a repository.
type place struct {
	Paths
	repo string
}

func newPlace(t testing.TB) place {
	t.Helper()
	dir := t.TempDir()
	p := place{
		Paths: Paths{
			ConfigFile:  filepath.Join(dir, "config", "paw", "config.toml"),
			SessionsDir: filepath.Join(dir, "data", "paw", "sessions"),
			StateDir:    filepath.Join(dir, "state", "paw"),
		},
		repo: filepath.Join(dir, "work", "shop"),
	}
	for _, d := range []string{filepath.Dir(p.ConfigFile), p.repo} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p place) user(t testing.TB, text string) { t.Helper(); write(t, p.ConfigFile, text) }
func (p place) repository(t testing.TB, text string) {
	t.Helper()
	write(t, repositoryFile(p.repo), text)
}

// environment makes a getenv of NAME=value items.
func environment(items ...string) func(string) string {
	return func(name string) string {
		for _, item := range items {
			if value, ok := strings.CutPrefix(item, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func (p place) load(t testing.TB, env ...string) Loaded {
	t.Helper()
	l, err := Load(p.Paths, p.repo, environment(env...))
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return l
}

func TestDefaultsApplyWithoutAnyFile(t *testing.T) {
	p := newPlace(t)
	for _, repo := range []string{"", p.repo, filepath.Join(p.repo, "missing")} {
		l, err := Load(p.Paths, repo, environment())
		if err != nil {
			t.Fatal(err)
		}
		want := Config{
			DefaultCLI: "claude",
			Worktree:   Worktree{Path: "{parent}/{repo}.paw/{session}/{agent}", Include: true, SetupSeconds: 900, TeardownSeconds: 120, MinFree: 2048},
			Tmux:       Tmux{Layout: "tiled", Bell: true, Counts: true},
			Turns:      Turns{SnapshotSeconds: 3, SnapshotMiB: 512},
			Agents:     Agents{MaxDepth: 3, MaxChildren: 8, BriefKiB: 64},
			Notify:     Notify{Events: []string{"waiting", "finished", "error", "limit", "held"}, Dwell: 5},
			Queue:      Queue{Max: 3, Starts: 50, KeepDays: 14},
			Limits:     Limits{Then: "tell", Times: 2, Prompt: "The usage limit has reset. Go on where you stopped."},
			CLIs:       map[string]CLI{},
			Presets:    map[string]Preset{},
			Prompts:    map[string]string{},
			Hosts:      map[string]Host{},
		}
		if diff := cmp.Diff(want, l.Config); diff != "" {
			t.Errorf("repository %q:\n%s", repo, diff)
		}
		if len(l.Sources) != 0 || len(l.Untrusted) != 0 || l.TrustProblem != nil {
			t.Errorf("repository %q: sources %v, untrusted %v, problem %v", repo, l.Sources, l.Untrusted, l.TrustProblem)
		}
	}
}

const everything = `
default_cli = "codex"

[worktree]
path  = "/srv/{repo}/{session}-{agent}"
copy  = [".env", "*.local"]
link  = ["node_modules"]
setup = "npm ci"
include = false
ports = 3
env = { KEY = "{slug}" }
teardown = "npm run drop"
teardown_seconds = 9
setup_seconds = 8
min_free = 0

[tmux]
socket = "work"
layout = "windows"
bell = false
counts = false

[turns]
snapshot_seconds = 5
snapshot_mib     = 64

[agents]
max_depth    = 2
max_children = 4
max_running = 6
brief_kib    = 16

[land]
checks = ["make test", "make lint"]

[notify]
events = ["waiting", "error"]
command = "tell"
desktop = true
osc = "777"
webhook = "https://example.org/paw"
dwell = 0

[queue]
max = 2
starts = 10
keep_days = 7

[limits]
then = "handover:codex, demo"
times = 1
prompt = "Go on."

[clis.codex]
git_writable = true

[clis.kimi]
acp = ["kimi", "acp"]

[clis.mycli]
command = ["mycli", "--flag={settings}"]
resume  = ["--resume", "{id}"]
args    = ["--quiet"]
prompt  = "send"
hooks   = "claude"
env     = { KEY = "value", OTHER = "" }

[presets.pair]
cli = ["claude", "second=codex"]
branches = ["feat/a", "feat/b"]
base = "main"

[prompts]
tests-first = "Write the tests first.\nThen the code."
[hosts.gpu]
ssh = "gpu-box"
repos = { "/home/me/src/shop" = "src/shop" }
paw = ".local/share/paw/bin/paw-1.3.0"
env = ["API_KEY"]
patience = 4
`

var everythingSet = Config{
	DefaultCLI: "codex",
	Worktree: Worktree{
		Path: "/srv/{repo}/{session}-{agent}", Copy: []string{".env", "*.local"},
		Link: []string{"node_modules"}, Setup: "npm ci", Ports: 3, Env: map[string]string{"KEY": "{slug}"},
		Teardown: "npm run drop", TeardownSeconds: 9, SetupSeconds: 8,
	},
	Tmux:   Tmux{Socket: "work", Layout: "windows"},
	Turns:  Turns{SnapshotSeconds: 5, SnapshotMiB: 64},
	Agents: Agents{MaxDepth: 2, MaxChildren: 4, MaxRunning: 6, BriefKiB: 16},
	Land:   Land{Checks: []string{"make test", "make lint"}},
	Notify: Notify{Events: []string{"waiting", "error"}, Command: "tell", Desktop: true, OSC: "777", Webhook: "https://example.org/paw", Dwell: 0},
	Queue:  Queue{Max: 2, Starts: 10, KeepDays: 7},
	Limits: Limits{Then: "handover:codex, demo", Times: 1, Prompt: "Go on."},
	CLIs: map[string]CLI{
		"codex": {GitWritable: true},
		"kimi":  {ACP: []string{"kimi", "acp"}},
		"mycli": {
			Command: []string{"mycli", "--flag={settings}"}, Resume: []string{"--resume", "{id}"}, Args: []string{"--quiet"},
			Prompt: "send", Hooks: "claude", Env: map[string]string{"KEY": "value", "OTHER": ""},
		},
	},
	Presets: map[string]Preset{
		"pair": {CLI: []string{"claude", "second=codex"}, Branches: []string{"feat/a", "feat/b"}, Base: "main"},
	},
	Prompts: map[string]string{"tests-first": "Write the tests first.\nThen the code."},
	Hosts: map[string]Host{
		"gpu": {SSH: "gpu-box", Repos: map[string]string{"/home/me/src/shop": "src/shop"}, Paw: ".local/share/paw/bin/paw-1.3.0", Env: []string{"API_KEY"}, Patience: 4},
	},
}

func TestUserFileSetsEveryKey(t *testing.T) {
	p := newPlace(t)
	p.user(t, everything)
	l := p.load(t)
	if diff := cmp.Diff(everythingSet, l.Config); diff != "" {
		t.Error(diff)
	}
	want := []Source{{Name: p.ConfigFile, Keys: []string{
		"default_cli", "worktree.path", "worktree.copy", "worktree.link", "worktree.setup", "worktree.include", "worktree.ports", "worktree.env",
		"worktree.teardown", "worktree.teardown_seconds", "worktree.setup_seconds", "worktree.min_free", "tmux.socket", "tmux.layout", "tmux.bell", "tmux.counts",
		"turns.snapshot_seconds", "turns.snapshot_mib", "agents.max_depth", "agents.max_children", "agents.max_running", "agents.brief_kib", "land.checks",
		"notify.events", "notify.command", "notify.desktop", "notify.osc", "notify.webhook", "notify.dwell", "queue.max", "queue.starts", "queue.keep_days",
		"limits.then", "limits.times", "limits.prompt",
		"clis.codex.git_writable", "clis.kimi.acp", "clis.mycli.command", "clis.mycli.resume", "clis.mycli.args", "clis.mycli.prompt", "clis.mycli.hooks", "clis.mycli.env",
		"presets.pair.cli", "presets.pair.branches", "presets.pair.base", "prompts.tests-first",
		"hosts.gpu.ssh", "hosts.gpu.repos", "hosts.gpu.paw", "hosts.gpu.env", "hosts.gpu.patience",
	}}}
	if diff := cmp.Diff(want, l.Sources); diff != "" {
		t.Error(diff)
	}
	if len(want[0].Keys) != len(settings) {
		t.Errorf("the file sets %d keys; there are %d settings", len(want[0].Keys), len(settings))
	}
}

func TestSameMeaningInEverySpelling(t *testing.T) {
	spellings := map[string]string{
		"tables":       "[clis.mycli]\ncommand = ['m']\n[clis.mycli.env]\nA = '1'\nB = '2'\n",
		"dotted":       "clis.mycli.command = ['m']\nclis.mycli.env.A = '1'\nclis.mycli.env.B = '2'\n",
		"inline":       "clis = { mycli = { command = ['m'], env = { A = '1', B = '2' } } }\n",
		"quoted":       "\"clis\".'mycli'.\"comm\\u0061nd\" = [\"m\"]\n[clis.\"mycli\".env]\n'A' = \"1\"\n\"B\" = \"2\"\n",
		"spaced":       "[ clis . mycli ]\ncommand = [ # a comment\n  \"m\" , ]\nenv . A = '''1'''\nenv . B = \"\"\"2\"\"\"",
		"crlf":         "[clis.mycli]\r\ncommand = ['m']\r\nenv = {A = '1', B = '2'}\r\n",
		"byte order":   "\ufeffclis.mycli.command = ['m']\nclis.mycli.env = {A = '1', B = '2'}\n",
		"late command": "[clis.mycli.env]\nA = '1'\nB = '2'\n[clis.mycli]\ncommand = ['m']\n",
	}
	want := map[string]CLI{"mycli": {Command: []string{"m"}, Env: map[string]string{"A": "1", "B": "2"}}}
	for name, text := range spellings {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.user(t, text)
			if diff := cmp.Diff(want, p.load(t).CLIs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLaterSourcesWin(t *testing.T) {
	p := newPlace(t)
	p.user(t, "default_cli = 'a'\nworktree.setup = 'user'\nturns.snapshot_mib = 10\nagents = {max_depth = 5, max_children = 6}\n[worktree]\ncopy = ['x', 'y']\n")
	p.repository(t, "default_cli = 'b'\nagents.max_depth = 4\n[worktree]\ncopy = ['z']\n")
	l := p.load(t, "PAW_MAX_DEPTH=9")

	if l.DefaultCLI != "b" || l.Worktree.Setup != "user" || l.Turns.SnapshotMiB != 10 || l.Agents != (Agents{MaxDepth: 9, MaxChildren: 6, BriefKiB: 64}) {
		t.Errorf("got %+v", l.Config)
	}
	if diff := cmp.Diff([]string{"z"}, l.Worktree.Copy); diff != "" {
		t.Errorf("a list replaces the one below:\n%s", diff)
	}
	for key, want := range map[string]string{
		"default_cli":            repositoryFile(p.repo),
		"worktree.setup":         p.ConfigFile,
		"agents.max_depth":       "PAW_MAX_DEPTH",
		"agents.max_children":    p.ConfigFile,
		"turns.snapshot_seconds": "",
	} {
		if got := originOf(l, key); got != want {
			t.Errorf("%s comes from %q, want %q", key, got, want)
		}
	}

	none, err := Load(p.Paths, "", environment())
	if err != nil {
		t.Fatal(err)
	}
	if none.DefaultCLI != "a" {
		t.Errorf("outside a repository: default_cli %q, want the user's", none.DefaultCLI)
	}
}

func TestProgramsMergeAndPresetsOfTheUserStay(t *testing.T) {
	p := newPlace(t)
	p.user(t, `
[clis.my]
command = ["my"]
args = ["--old"]
env = { A = "1", B = "1" }
[presets.pair]
cli = ["claude", "codex"]
branches = ["a", "b"]
[presets.mine]
cli = ["demo"]
`)
	p.repository(t, `
[clis.my]
args = ["--new"]
prompt = "send"
env = { B = "2", C = "2" }
[presets.pair]
cli = ["gemini"]
[presets.theirs]
cli = ["qwen"]
`)
	trustAll(t, p)
	l := p.load(t)
	wantCLI := CLI{
		Command: []string{"my"}, Args: []string{"--new"}, Prompt: "send",
		Env: map[string]string{"A": "1", "B": "2", "C": "2"},
	}
	if diff := cmp.Diff(wantCLI, l.CLIs["my"]); diff != "" {
		t.Error(diff)
	}
	wantPresets := map[string]Preset{
		"pair": {CLI: []string{"claude", "codex"}, Branches: []string{"a", "b"}}, "mine": {CLI: []string{"demo"}}, "theirs": {CLI: []string{"qwen"}},
	}
	if diff := cmp.Diff(wantPresets, l.Presets); diff != "" {
		t.Error(diff)
	}
}

func TestLoadWritesNothing(t *testing.T) {
	p := newPlace(t)
	p.repository(t, "worktree.setup = 'make'\n")
	p.load(t)
	if _, err := os.Stat(p.StateDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state folder was made: %v", err)
	}
}

func TestOnlyRegularFilesOfSensibleSizeAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		make func(file string) error
		want string
	}{
		"folder":    {func(f string) error { return os.Mkdir(f, 0o700) }, "not a regular file"},
		"device":    {func(f string) error { return os.Symlink("/dev/zero", f) }, "not a regular file"},
		"pipe":      {mkfifo, "not a regular file"},
		"too large": {func(f string) error { return os.WriteFile(f, make([]byte, largestFile+1), 0o600) }, "larger than 64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if err := c.make(repositoryFile(p.repo)); err != nil {
				t.Fatal(err)
			}
			err := p.load(t).RepositoryMistake
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), ".paw.toml") || err.File == "" {
				t.Errorf("got %v, want an error that names the file and says %q", err, c.want)
			}
		})
	}
}

func TestLinkedFileIsRead(t *testing.T) {
	p := newPlace(t)
	target := filepath.Join(t.TempDir(), "dotfiles.toml")
	write(t, target, "default_cli = 'demo'\n")
	if err := os.Symlink(target, p.ConfigFile); err != nil {
		t.Fatal(err)
	}
	if got := p.load(t).DefaultCLI; got != "demo" {
		t.Errorf("default_cli is %q", got)
	}
}

func TestUnreadableFileIsAnErrorThatNamesIt(t *testing.T) {
	p := newPlace(t)
	p.user(t, "")
	if err := os.Chmod(p.ConfigFile, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // root reads everything; a file in the way of the folder does not need permissions
		p.ConfigFile = filepath.Join(p.ConfigFile, "config.toml")
	}
	_, err := Load(p.Paths, "", environment())
	if err == nil || !strings.Contains(err.Error(), p.ConfigFile) {
		t.Errorf("got %v", err)
	}
}

// originOf returns the name of the strongest source of a key's value, "" for a default.
func originOf(l Loaded, key string) string {
	for _, s := range slices.Backward(l.Sources) {
		if slices.Contains(s.Keys, key) {
			return s.Name
		}
	}
	return ""
}

// An unknown key is a mistake, and all other keys are loaded as if the unknown one were not there.
func TestUnknownKeysLeaveTheRest(t *testing.T) {
	p := newPlace(t)
	p.user(t, "default_cli = 'demo'\n[worktree]\ncopi = ['x']\ncopy = ['y']\n[agents]\nmax_dept = 1\n")
	p.repository(t, "colour = 1\ntmux.layout = 'windows'\nworktree.setup = 'make'\n")
	l, err := Load(p.Paths, p.repo, environment("PAW_BRIEF_KIB=7"))
	var e *Error
	if !errors.As(err, &e) || !e.Unknown || e.File != p.ConfigFile || e.Line != 3 || l.RepositoryMistake == nil || l.RepositoryMistake.Line != 1 {
		t.Fatalf("got %v, %v", err, l.RepositoryMistake)
	}
	l.RepositoryMistake = nil
	want := p.load
	p.user(t, "default_cli = 'demo'\n[worktree]\ncopy = ['y']\n[agents]\n")
	p.repository(t, "tmux.layout = 'windows'\nworktree.setup = 'make'\n")
	if diff := cmp.Diff(want(t, "PAW_BRIEF_KIB=7"), l); diff != "" {
		t.Error(diff)
	}
	// Another mistake counts before it, wherever it is: then nothing is known of what is meant.
	p.user(t, "colour = 1\ndefault_cli = 3\n")
	if _, err := Load(p.Paths, p.repo, environment()); !errors.As(err, &e) || e.Unknown {
		t.Errorf("got %v", err)
	}
}
