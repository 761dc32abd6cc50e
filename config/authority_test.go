package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysOf lists the keys of a configuration type, with a * for each name that the user chooses.
func keysOf(t reflect.Type, prefix string) []string {
	switch {
	case t.Kind() == reflect.Struct:
		var keys []string
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
			keys = append(keys, keysOf(field.Type, prefix+"."+name)...)
		}
		return keys
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return keysOf(t.Elem(), prefix+".*")
	case t.Kind() == reflect.Map && prefix == ".prompts":
		return []string{"prompts.*"}
	}
	return []string{strings.TrimPrefix(prefix, ".")}
}

// authorities are the decisions, written down a second time so that none changes by accident.
var authorities = map[string]authority{
	"default_cli": replaces,

	"worktree.path": yields, "worktree.copy": replaces, "worktree.link": replaces, "worktree.setup": replaces,
	"worktree.include": replaces, "worktree.ports": replaces, "worktree.env": replaces, "worktree.teardown": replaces,
	"worktree.setup_seconds": replaces, "worktree.teardown_seconds": replaces, "worktree.min_free": yields,
	"tmux.socket": yields, "tmux.layout": yields,
	"tmux.bell": usersAlone, "tmux.counts": usersAlone,
	"turns.snapshot_seconds": replaces, "turns.snapshot_mib": replaces,
	"agents.max_depth": replaces, "agents.max_children": replaces, "agents.max_running": usersAlone, "agents.brief_kib": replaces,
	"land.checks":   replaces,
	"notify.events": usersAlone, "notify.command": usersAlone, "notify.desktop": usersAlone, "notify.osc": usersAlone,
	"notify.webhook": usersAlone, "notify.dwell": usersAlone,
	"queue.max": lowers, "queue.starts": lowers, "queue.keep_days": usersAlone,
	"limits.then": usersAlone, "limits.times": usersAlone, "limits.prompt": usersAlone,
	"clis.*.acp": replaces, "clis.*.command": replaces, "clis.*.resume": replaces, "clis.*.args": replaces, "clis.*.prompt": replaces,
	"clis.*.env": replaces, "clis.*.git_writable": replaces, "clis.*.hooks": replaces,
	"presets.*.cli": yields, "presets.*.branches": yields, "presets.*.base": yields,
	"prompts.*":   yields,
	"hosts.*.ssh": usersAlone, "hosts.*.repos": usersAlone, "hosts.*.paw": usersAlone, "hosts.*.env": usersAlone, "hosts.*.patience": usersAlone,
}

// Whoever adds a key decides what a repository has to say in it.
func TestEveryKeySaysWhatARepositoryMay(t *testing.T) {
	keys := keysOf(reflect.TypeFor[Config](), "")
	slices.Sort(keys)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(authorities)), keys); diff != "" {
		t.Errorf("keys without a decision, or decisions without a key:\n%s", diff)
	}
	for _, key := range keys {
		s, _ := findSetting(strings.Split(key, "."))
		if s == nil || s.repository == 0 || s.repository != authorities[key] {
			t.Errorf("%s: got %+v, want %v", key, s, authorities[key])
		}
	}
}

// others are values that a repository has, each other than the user's of everything.
const others = `
default_cli = "demo"
[worktree]
path  = "{parent}/{repo}.other/{session}-{agent}"
copy  = ["other"]
link  = ["other"]
setup = "other"
include = true
ports = 9
env = { KEY = "other" }
teardown = "other"
teardown_seconds = 99
setup_seconds = 99
min_free = 99
[tmux]
socket = "other"
layout = "tiled"
bell = true
counts = true
[turns]
snapshot_seconds = 1000000
snapshot_mib     = 1
[agents]
max_depth    = 9
max_children = 9
max_running  = 99
brief_kib    = 99
[land]
checks = []
[notify]
events = []
command = ""
desktop = false
osc = ""
webhook = ""
dwell = 1000000
[queue]
max = 9
starts = 99
keep_days = 99
[limits]
then = "continue"
times = 9
prompt = "other"
[clis.kimi]
acp = ["other", "--acp"]

[clis.codex]
git_writable = false
[clis.mycli]
command = ["other"]
resume  = ["other"]
args    = []
prompt  = "arg"
hooks   = "none"
env     = { KEY = "other", OTHER = "other" }
[presets.pair]
cli = ["demo", "two=demo"]
branches = ["other/a", "other/b"]
base = "other"
[prompts]
tests-first = "other"
[hosts.gpu]
ssh = "other"
repos = { "/other" = "other" }
paw = "other/paw"
env = ["OTHER"]
patience = 9
`

// line writes a configuration file that sets one key.
func (a assignment) line() string {
	if variables, ok := a.value.(map[string]string); ok {
		var items []string
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			items = append(items, fmt.Sprintf("%q = %q", name, variables[name]))
		}
		return a.key() + " = { " + strings.Join(items, ", ") + " }\n"
	}
	value, _ := json.Marshal(a.value)
	return a.key() + " = " + string(value) + "\n"
}

func assignmentsOf(t *testing.T, text string) []assignment {
	t.Helper()
	d, err := parseDocument("test", text)
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.understand(Default())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The user's value of a key holds against that of an untrusted repository, wherever the key is about
// more than the project.
func TestUsersSettingsHold(t *testing.T) {
	project := []string{"default_cli", "worktree.copy", "worktree.link", "worktree.include"} // no command, and the repository knows best
	theirs := map[string]assignment{}
	for _, a := range assignmentsOf(t, others) {
		theirs[a.key()] = a
	}
	for _, own := range assignmentsOf(t, everything) {
		t.Run(own.key(), func(t *testing.T) {
			p, other := newPlace(t), theirs[own.key()]
			if reflect.DeepEqual(own.value, other.value) {
				t.Fatal("the repository says the same")
			}
			p.user(t, everything)
			p.repository(t, other.line())
			l := p.load(t)
			want := own.value
			if slices.Contains(project, own.key()) {
				want = other.value
			}
			if got := own.inForce(l.Config); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			ignored := slices.Contains(l.Ignored, own.key())
			if alone := own.setting.repository == usersAlone; ignored != alone {
				t.Errorf("ignored %q", l.Ignored)
			}
			trustAll(t, p)
			want = other.value
			if own.setting.repository != replaces {
				want = own.value
			}
			if got := own.inForce(p.load(t).Config); !reflect.DeepEqual(got, want) {
				t.Errorf("trusted: got %v, want %v", got, want)
			}
		})
	}
}

// Without a word of the user a repository has a say in everything that is not the user's alone.
func TestRepositorySpeaksWhereTheUserDoesNot(t *testing.T) {
	for _, a := range assignmentsOf(t, everything) {
		t.Run(a.key(), func(t *testing.T) {
			p := newPlace(t)
			text := a.line()
			if a.path[0] == "clis" && a.path[1] == "mycli" && a.path[2] != "command" {
				text += "clis.mycli.command = ['mycli', '{settings}']\n"
			}
			p.repository(t, text)
			trustAll(t, p)
			l := p.load(t)
			if got := reflect.DeepEqual(a.inForce(l.Config), a.value); got == (a.setting.repository == usersAlone) {
				t.Errorf("got %v of %v", a.inForce(l.Config), a.value)
			}
		})
	}
}

func TestBrokenRepositoryFileCostsItsSettingsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		line    int
		unknown bool
	}{
		"conflict":    {"default_cli = 'demo'\n<<<<<<< HEAD\n", 2, false},
		"wrong type":  {"default_cli = 'demo'\ntmux.bell = 3\n", 2, false},
		"unknown key": {"worktree.copi = []\n", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.user(t, everything)
			p.repository(t, c.text)
			l := p.load(t, "PAW_BRIEF_KIB=7")
			want := everythingSet
			want.Agents.BriefKiB = 7
			if diff := cmp.Diff(want, l.Config); diff != "" {
				t.Error(diff)
			}
			e := l.RepositoryMistake
			if e == nil || !e.InRepository || e.File != repositoryFile(p.repo) || e.Line != c.line || e.Unknown != c.unknown {
				t.Errorf("got %+v", e)
			}
			// The user's own mistake counts, and the repository's is told as well.
			p.user(t, "colour = 1\n")
			l, err := Load(p.Paths, p.repo, environment())
			if !errors.As(err, &e) || e.File != p.ConfigFile || l.RepositoryMistake == nil {
				t.Errorf("got %v, %v", err, l.RepositoryMistake)
			}
		})
	}
}
