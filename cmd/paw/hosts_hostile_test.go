package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// instead runs a script in place of the host's paw for requests with one of these commands; other
// requests go to paw.
func (m *machines) instead(commands, script string) {
	m.t.Helper()
	paw := filepath.Join(m.root, "there-paw")
	m.write(paw, `#!/bin/sh
word=$2
text=$(printf %s== "$word" | tr _- /+ | base64 -d 2>/dev/null)
marker=$(printf %s "$text" | sed 's/.*"marker":"\([^"]*\)".*/\1/')
command=$(printf %s "$text" | sed 's/.*"args":\["\([^"]*\)".*/\1/')
real() { exec `+filepath.Join(m.root, "bin", "paw")+` __on "$word"; }
case $command in
`+commands+`) `+script+` ;;
*) real ;;
esac
`, 0o755)
	file := filepath.Join(m.root, "here/.config/paw/config.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "paw = ") && !strings.HasPrefix(line, "patience = ") {
			lines = append(lines, line)
		}
		if line == "[hosts.gpu]\n" {
			lines = append(lines, "paw = \""+paw+"\"\npatience = 20\n")
		}
	}
	m.write(file, strings.Join(lines, ""), 0o600)
}

// A host whose programs agents have replaced can do nothing on this machine but what was asked for:
// its output is checked, is not waited for without end, and does not control the terminal.
func TestHostileHost(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "demo")
	m.turnThere("demo", "do: write far.txt there")
	m.ok("status")
	refsHere := m.git(m.repo, "for-each-ref")
	real := filepath.Join(m.root, "bin", "paw") + ` __on "$word"`
	edited := func(sed string) string { return real + " | sed '" + sed + "'" }
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct {
		name, command, script string
		args                  []string
		code                  int
		says                  string
	}{
		{"a JSON without end", "status", `echo "$marker"; printf '{"version":1,"x":"'; yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, []string{"status"}, 0, "gpu  unreachable  the answer does not end"},
		{"a JSON of states without end", "__state", `echo "$marker"; printf '{"version":1,"x":"'; yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, []string{"land", "gpu:demo"}, 1, "the answer does not end"},
		{"escapes in names", "status", `echo "$marker"; printf '{"version":1,"sessions":[{"name":"sh\\u001b]0;evil\\u0007op","status":"active","agents":[{"name":"\\u001b[2Jdemo\\u202e","state":"idle","cli":"x\\ny"}]}]}'`, []string{"status"}, 0, "gpu  unreachable  its answer is not understood"},
		{"a command in a name", "status", `echo "$marker"; printf '{"version":1,"sessions":[{"name":"shop","status":"active","agents":[{"name":"x;touch PWN","state":"waiting_input"}]}]}'`, []string{"status"}, 0, "gpu  unreachable  its answer is not understood"},
		{"a command in a name that is waited for", "wait", `echo "$marker"; printf '{"version":1,"session":"shop","agents":[{"name":"x;touch PWN","state":"waiting_input"}]}'`, []string{"wait", "gpu:demo"}, 1, "gpu: its answer is not understood"},
		{"a command in a hint", "turns", `echo "$marker"; echo 'paw: hint: paw add --cli x;touch PWN' >&2; exit 3`, []string{"turns", "gpu:demo"}, 3, "paw: hint: ssh -t gpu-box 'paw add --cli x;touch PWN'"},
		{"escapes in an error", "__state", `echo "$marker"; printf 'paw: error: \033]0;evil\007no\n' >&2; exit 3`, []string{"land", "gpu:demo"}, 3, "no"},
		{"the marker twice", "turns", `echo "$marker"; echo "$marker"; echo '{}'`, []string{"turns", "gpu:demo"}, 0, "paw-"},
		{"no marker", "__state", `echo '{"version":1}'`, []string{"land", "gpu:demo"}, 1, "no paw answers there"},
		{"no states", "__state", `echo "$marker"; echo '{"version":1,"session":{"session_name":"shop"},"states":[]}'`, []string{"land", "gpu:demo"}, 1, "gpu: "},
		{"a name that leaves its namespace", "__state", edited(`s|"turn_session": *"[^"]*"|"turn_session": "../../heads/main"|g`), []string{"land", "gpu:demo"}, 1, "not understood"},
		{"a name of another host", "__state", edited(`s|"turn_session": *"[^"]*"|"turn_session": "@box/x"|g`), []string{"land", "gpu:demo"}, 1, "not understood"},
		{"an option for a commit", "__state", edited(`s|"state": *"[0-9a-f]\{40\}"|"state": "--output=x"|`), []string{"land", "gpu:demo"}, 1, "not understood"},
		{"a commit that is not there", "__state", edited(`s|"state": *"[0-9a-f]\{40\}"|"state": "` + commit + `"|`), []string{"land", "gpu:demo"}, 11, "handed to somebody else"},
		{"a commit of ours", "__state", edited(`s|"state": *"[0-9a-f]\{40\}"|"state": "` + m.git(m.repo, "rev-parse", "HEAD") + `"|`), []string{"land", "gpu:demo"}, 11, "handed to somebody else"},
		{"turns without end", "__state", edited(`s|"turn_high_water": *[0-9]*|"turn_high_water": 2000000000|`), []string{"land", "gpu:demo"}, 1, "not understood"},
		{"a connection that is lost in a prompt", "send", `echo "$marker"; exit 255`, []string{"send", "gpu:demo", "hello"}, 6, "what it has done is not known"},
		{"a connection that is lost in an answer", "answer", `echo "$marker"; exit 255`, []string{"answer", "gpu:demo", "yes"}, 6, "what it has done is not known"},
		{"a connection that is lost in a look", "turns", `echo "$marker"; exit 255`, []string{"turns", "gpu:demo"}, 1, "what it has done is not known"},
		{"a newer paw", "__state", edited(`s|"version": *1|"version": 99|`), []string{"land", "gpu:demo"}, 1, "runs a newer paw"},
		{"an older paw", "__state", `echo "$marker"; echo '{"error":"unknown command \"__state\" for \"paw\""}' >&2; exit 2`, []string{"land", "gpu:demo"}, 1, "hands no work over"},
	} {
		m.instead(tt.command, tt.script)
		began := time.Now()
		out, complaints, code := m.paw(tt.args...)
		if code != tt.code || !strings.Contains(out+complaints, tt.says) || strings.ContainsAny(out+complaints, "\x1b\x07\u202e") {
			t.Errorf("%s: exit code %d, want %d and %q\n%q", tt.name, code, tt.code, tt.says, out+complaints)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: took %s", tt.name, took)
		}
	}
	for line := range strings.SplitSeq(m.git(m.repo, "for-each-ref"), "\n") {
		if !strings.Contains(refsHere, line) && !strings.Contains(line, "refs/paw/@gpu/shop_demo/") {
			t.Errorf("a ref was written: %s", line)
		}
	}
	m.has("far.txt", "")
}

// A host that sends refs that were not requested, or objects that git refuses, changes nothing on
// this machine.
func TestHostileObjects(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "demo")
	m.turnThere("demo", "do: write far.txt there")
	place := filepath.Join(m.there, "src/shop.paw/shop/demo")
	before := m.git(m.repo, "for-each-ref", "refs/heads", "refs/tags")
	for name, ref := range map[string]string{"landed": "refs/paw/shop_demo/landed/1/after", "seen": "refs/paw/shop_demo/seen", "beside": "refs/paw/shop_demo/turn/1x/../../x"} {
		cmd := fmt.Sprintf("git -C %s update-ref %s HEAD", place, ref)
		m.try(cmd)
		t.Log(name)
	}
	m.ok("land", "gpu:demo", "--dry-run")
	for _, ref := range strings.Fields(m.git(m.repo, "for-each-ref", "--format=%(refname)", "refs/paw")) {
		if strings.Contains(ref, "landed") || strings.HasSuffix(ref, "/seen") || !strings.HasPrefix(ref, "refs/paw/@gpu/shop_demo/") {
			t.Errorf("%s was written", ref)
		}
	}
	if after := m.git(m.repo, "for-each-ref", "refs/heads", "refs/tags"); after != before {
		t.Errorf("refs have changed:\n%s", after)
	}
	// A commit whose tree has an entry .git, which git itself never makes.
	blob := m.git(place, "hash-object", "-w", "--stdin")
	m.write(filepath.Join(m.root, "tree"), "100644 .git\x00"+unhex(t, blob), 0o600)
	tree := m.git(place, "hash-object", "-w", "--literally", "-t", "tree", filepath.Join(m.root, "tree"))
	evil := m.git(place, "commit-tree", tree, "-p", "HEAD", "-m", "evil")
	m.git(place, "update-ref", "refs/paw/shop_demo/turn/2", evil)
	m.says(3, "sends an object that git refuses", "land", "gpu:demo")
	if out, _ := m.with(nil, "land", "--list"); strings.Contains(out, "landed  demo") {
		t.Errorf("it has landed: %s", out)
	}
	m.has("far.txt", "")
	m.git(m.repo, "fsck", "--no-progress")
}

// try runs a line in sh and ignores its failure.
func (m *machines) try(line string) {
	m.t.Helper()
	m.write(filepath.Join(m.root, "line"), line+"\ntrue\n", 0o600)
	m.run("sh", filepath.Join(m.root, "line"))
}

func unhex(t *testing.T, text string) string {
	t.Helper()
	var out []byte
	for i := 0; i+1 < len(text); i += 2 {
		var b byte
		if _, err := fmt.Sscanf(text[i:i+2], "%02x", &b); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return string(out)
}
