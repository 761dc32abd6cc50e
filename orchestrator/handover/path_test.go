package handover

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRelocate(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"/w/shop/claude", "/w/shop/codex"},
		{"see /w/shop/claude/api/main.go:12", "see /w/shop/codex/api/main.go:12"},
		{"cd /w/shop/claude && ls", "cd /w/shop/codex && ls"},
		{"'/w/shop/claude' \"/w/shop/claude\" (/w/shop/claude) `/w/shop/claude`", "'/w/shop/codex' \"/w/shop/codex\" (/w/shop/codex) `/w/shop/codex`"},
		{"It is in /w/shop/claude.", "It is in /w/shop/codex."},
		{"in /w/shop/claude... or", "in /w/shop/codex... or"},
		{"in /w/shop/claude, or", "in /w/shop/codex, or"},
		{"/w/shop/claude:/usr/bin", "/w/shop/codex:/usr/bin"},
		{"--dir=/w/shop/claude", "--dir=/w/shop/codex"},
		{"@/w/shop/claude/a.go", "@/w/shop/codex/a.go"},
		{"file:///w/shop/claude/a.go", "file:///w/shop/codex/a.go"},
		{"a\n/w/shop/claude\n/w/shop/claude/b", "a\n/w/shop/codex\n/w/shop/codex/b"},
		{`{"command":"printf 'x\n/w/shop/claude/a'"}`, `{"command":"printf 'x\n/w/shop/codex/a'"}`},
		{`{"command":"cat \"/w/shop/claude\"\n"}`, `{"command":"cat \"/w/shop/codex\"\n"}`},
		{"~/shop/claude/a.go and $HOME/shop/claude/b.go", "~/shop/codex/a.go and $HOME/shop/codex/b.go"},

		{"/w/shop/claude_2/a.go", "/w/shop/claude_2/a.go"},
		{"/w/shop/claude2", "/w/shop/claude2"},
		{"/w/shop/claudé", "/w/shop/claudé"},
		{"/w/shop/claude-old", "/w/shop/claude-old"},
		{"/w/shop/claude.bak", "/w/shop/claude.bak"},
		{"/w/shop/claude..main", "/w/shop/claude..main"},
		{"/w/shop/claude~", "/w/shop/claude~"},
		{`/w/shop/claude\ copy/a`, `/w/shop/claude\ copy/a`},
		{`{"x":"/w/shop/claude\\ copy/a"}`, `{"x":"/w/shop/claude\\ copy/a"}`},
		{"/w/shop/claude*", "/w/shop/claude*"},
		{"/w/shop/claude{,_2}", "/w/shop/claude{,_2}"},
		{"/backup/w/shop/claude", "/backup/w/shop/claude"},
		{"//w/shop/claude", "//w/shop/claude"},
		{"../w/shop/claude", "../w/shop/claude"},
		{"$ROOT/w/shop/claude ${ROOT}/w/shop/claude", "$ROOT/w/shop/claude ${ROOT}/w/shop/claude"},
		{"x~/shop/claude", "x~/shop/claude"},
		{"shop/claude/a.go", "shop/claude/a.go"},
		{"api/main.go and ./b.go", "api/main.go and ./b.go"},
		{"/w/shop/main.go", "/w/shop/main.go"},
		{"paw/shop/claude", "paw/shop/claude"},
	} {
		r := Relocate("/w/shop/claude", "/w/shop/codex", "/w")
		if got := r.text(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		if changed := c.text != c.want; changed != (r.count > 0) {
			t.Errorf("%q: %d paths counted", c.text, r.count)
		}
	}
}

// TestRelocateSpellings: a folder whose name has to be escaped is found however the conversation writes it.
func TestRelocateSpellings(t *testing.T) {
	for text, want := range map[string]string{
		`/w/my "repo"/claude/a`:                  `/w/my "repo"/codex/a`,
		`{"p":"/w/my \"repo\"/claude/a"}`:        `{"p":"/w/my \"repo\"/codex/a"}`,
		`cd /w/my\ \"repo\"/claude`:              `cd /w/my\ \"repo\"/codex`,
		`{"c":"cd /w/my\\ \\\"repo\\\"/claude"}`: `{"c":"cd /w/my\\ \\\"repo\\\"/codex"}`,
		`file:///w/my%20%22repo%22/claude/a`:     `file:///w/my%20%22repo%22/codex/a`,
	} {
		if got := Relocate(`/w/my "repo"/claude`, `/w/my "repo"/codex`, "").text(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestRelocateLinks: the CLI may say the resolved path of a worktree that is reached by a symlink, also when the
// worktree itself is gone.
func TestRelocateLinks(t *testing.T) {
	dir := resolved(t.TempDir())
	if err := os.Mkdir(filepath.Join(dir, "disk"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("disk", filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	text := dir + "/disk/claude/a " + dir + "/home/claude/a ~/claude/a"
	want := dir + "/home/codex/a " + dir + "/home/codex/a ~/codex/a"
	if got := Relocate(dir+"/home/claude", dir+"/home/codex", dir+"/home").text(text); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Without a place of the new worktree below the home directory there is no "~" for it.
	if got := Relocate(dir+"/home/claude", "/w/codex", dir+"/home").text("~/claude/a"); got != "/w/codex/a" {
		t.Error(got)
	}
}
