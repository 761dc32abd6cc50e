package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryVariableOverrides(t *testing.T) {
	p := newPlace(t)
	p.user(t, everything)
	l := p.load(t,
		"PAW_DEFAULT_CLI=gemini", "PAW_WORKTREE_PATH={parent}/w/{agent}", "PAW_WORKTREE_SETUP=make deps", "PAW_TMUX_SOCKET=/run/t",
		"PAW_TMUX_LAYOUT=tiled", "PAW_SNAPSHOT_SECONDS=11", "PAW_SNAPSHOT_MIB=12", "PAW_MAX_DEPTH=13", "PAW_MAX_CHILDREN=14", "PAW_BRIEF_KIB=15",
		"PAW_SESSION=s", "PAW_AGENT=a", "PAW_LAUNCH=l", "PAW_TRACE=1")
	want := everythingSet
	want.DefaultCLI = "gemini"
	want.Worktree.Path, want.Worktree.Setup = "{parent}/w/{agent}", "make deps"
	want.Tmux = Tmux{Socket: "/run/t", Layout: "tiled"}
	want.Turns = Turns{11, 12}
	want.Agents = Agents{MaxDepth: 13, MaxChildren: 14, MaxRunning: everythingSet.Agents.MaxRunning, BriefKiB: 15}
	if diff := cmp.Diff(want, l.Config); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, s := range l.Sources[1:] {
		got = append(got, s.Name+" "+strings.Join(s.Keys, ","))
	}
	wantSources := []string{
		"PAW_DEFAULT_CLI default_cli", "PAW_WORKTREE_PATH worktree.path", "PAW_WORKTREE_SETUP worktree.setup",
		"PAW_TMUX_SOCKET tmux.socket", "PAW_TMUX_LAYOUT tmux.layout", "PAW_SNAPSHOT_SECONDS turns.snapshot_seconds",
		"PAW_SNAPSHOT_MIB turns.snapshot_mib", "PAW_MAX_DEPTH agents.max_depth", "PAW_MAX_CHILDREN agents.max_children",
		"PAW_BRIEF_KIB agents.brief_kib",
	}
	if diff := cmp.Diff(wantSources, got); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyKnownVariablesAreLookedAt(t *testing.T) {
	p := newPlace(t)
	var asked []string
	_, err := Load(p.Paths, "", func(name string) string { asked = append(asked, name); return "" })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"PAW_DEFAULT_CLI", "PAW_WORKTREE_PATH", "PAW_WORKTREE_SETUP", "PAW_TMUX_SOCKET", "PAW_TMUX_LAYOUT",
		"PAW_SNAPSHOT_SECONDS", "PAW_SNAPSHOT_MIB", "PAW_MAX_DEPTH", "PAW_MAX_CHILDREN", "PAW_BRIEF_KIB",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

func TestWrongVariablesAreNamed(t *testing.T) {
	for _, c := range []struct{ item, want, nearest string }{
		{"PAW_MAX_DEPTH=three", `PAW_MAX_DEPTH: "three" is not a whole number`, ""},
		{"PAW_MAX_DEPTH= 3", `PAW_MAX_DEPTH: " 3" is not a whole number`, ""},
		{"PAW_MAX_CHILDREN=0", `PAW_MAX_CHILDREN: 0 is not a number from 1 to 1000000`, ""},
		{"PAW_SNAPSHOT_SECONDS=1.5", `PAW_SNAPSHOT_SECONDS: "1.5" is not a whole number`, ""},
		{"PAW_SNAPSHOT_MIB=-4", `PAW_SNAPSHOT_MIB: -4 is not a number from 1 to 1000000`, ""},
		{"PAW_SNAPSHOT_MIB=99999999999999999999", `PAW_SNAPSHOT_MIB: "99999999999999999999" is not a whole number`, ""},
		{"PAW_TMUX_LAYOUT=window", `PAW_TMUX_LAYOUT: "window" is not tiled or windows`, "windows"},
		{"PAW_TMUX_SOCKET=a/b", `PAW_TMUX_SOCKET: "a/b" is neither a socket name nor an absolute path`, ""},
		{"PAW_DEFAULT_CLI=a b", `PAW_DEFAULT_CLI: "a b" is not a cli name (letters, digits and _)`, ""},
		{"PAW_WORKTREE_PATH=x", `PAW_WORKTREE_PATH: "x" is relative; begin it with / or {parent}`, ""},
		{"PAW_WORKTREE_SETUP=a\x1bb", `PAW_WORKTREE_SETUP: has an invisible character (U+001B)`, ""},
	} {
		t.Run(c.item, func(t *testing.T) {
			p := newPlace(t)
			_, err := Load(p.Paths, p.repo, environment(c.item))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			name, _, _ := strings.Cut(c.item, "=")
			if e.Error() != c.want || e.Key != name || e.Nearest != c.nearest || e.File != "" || e.Line != 0 {
				t.Errorf("got %q, %+v", e.Error(), *e)
			}
		})
	}
}
