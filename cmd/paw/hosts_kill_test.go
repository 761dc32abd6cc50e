package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// with runs paw on this machine with more variables.
func (m *machines) with(kv []string, args ...string) (output string, code int) {
	m.t.Helper()
	before := m.env
	m.env = append(append([]string{}, m.env...), kv...)
	defer func() { m.env = before }()
	out, complaints, code := m.paw(args...)
	return out + complaints, code
}

// afresh removes from this machine what landings have left.
func (m *machines) afresh(tip string) {
	m.t.Helper()
	m.git(m.repo, "reset", "-q", "--hard", tip)
	m.git(m.repo, "clean", "-qfd")
	for _, ref := range strings.Fields(m.git(m.repo, "for-each-ref", "--format=%(refname)", "refs/paw")) {
		m.git(m.repo, "update-ref", "-d", ref)
	}
	if err := os.RemoveAll(filepath.Join(m.root, "here/.local/share/paw/sessions/hosts")); err != nil {
		m.t.Fatal(err)
	}
	m.mine()
}

// mine leaves uncommitted changes in the user's checkout; no landing may touch them.
func (m *machines) mine() {
	m.write(filepath.Join(m.repo, "README"), "the user's\n", 0o644)
	m.write(filepath.Join(m.repo, "mine.txt"), "untracked\n", 0o644)
}

// landed lists what a landing may change in the local repository: commits of main, index, status, refs of paw, records of landings.
func (m *machines) landed() []string {
	m.t.Helper()
	lines := []string{m.git(m.repo, "log", "--format=%T %B", "main"), m.git(m.repo, "ls-files", "--stage"), m.git(m.repo, "status", "--porcelain")}
	for _, ref := range strings.Fields(m.git(m.repo, "for-each-ref", "--format=%(refname)", "refs/paw")) {
		if !strings.HasSuffix(ref, "/handed") && !strings.Contains(ref, "/turn/") {
			lines = append(lines, ref)
		}
	}
	record, _ := os.ReadFile(filepath.Join(m.root, "here/.local/share/paw/sessions/hosts/gpu:shop.json"))
	_, landings, _ := strings.Cut(string(record), `"landings"`)
	return append(lines, landVolatile.ReplaceAllString(landings, `"$1": VOLATILE`))
}

// TestKilledLandingFromAHost kills land, and its undoing, after each of their steps on this machine: after the next recover it has taken place
// or it has not, and it can be done again.
func TestKilledLandingFromAHost(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "demo")
	m.turnThere("demo", "do: write far.txt there")
	tip := m.git(m.repo, "rev-parse", "main")
	land, undo := []string{"land", "gpu:demo"}, []string{"land", "--undo", "--session", "gpu:shop"}
	for _, command := range [][]string{land, undo} {
		prepare := func() {
			m.afresh(tip)
			if command[1] == "--undo" {
				m.ok(land...)
			}
		}
		prepare()
		before := m.landed()
		list := filepath.Join(m.root, "steps")
		if out, code := m.with([]string{"PAW_TEST_STEPS=" + list}, command...); code != 0 {
			t.Fatal(out)
		}
		after := m.landed()
		text, err := os.ReadFile(list)
		if err != nil || cmp.Equal(before, after) {
			t.Fatalf("it did nothing: %v", err)
		}
		os.Remove(list)
		seen := map[string]int{}
		for _, step := range strings.Fields(string(text)) {
			seen[step]++
			at := fmt.Sprintf("%s:%d", step, seen[step])
			prepare()
			if out, code := m.with([]string{"PAW_TEST_KILL=" + at}, command...); code >= 0 && code != 137 {
				t.Errorf("%s: not killed: exit code %d\n%s", at, code, out)
			}
			if out, code := m.with(nil, "recover"); code != 0 && !strings.Contains(out, "no session here") {
				t.Errorf("%s: recover: exit code %d\n%s", at, code, out)
			}
			got := m.landed()
			if command[1] != "--undo" && m.git(m.repo, "rev-parse", "main") == tip {
				m.ok(command...)
				got = m.landed()
			} else if command[1] == "--undo" && m.git(m.repo, "rev-parse", "main") != tip {
				m.ok(command...)
				got = m.landed()
			}
			if diff := cmp.Diff(after, got); diff != "" {
				t.Errorf("killed after %s, then recovered: neither landed nor not (-uninterrupted +killed)\n%s", at, diff)
			}
			m.has("README", "the user's\n")
		}
		t.Logf("%d steps of paw %s", len(strings.Fields(string(text))), strings.Join(command, " "))
	}
}

// TestHostKilledWhileItIsFetchedFrom kills git and paw over there in the middle of what they send, and cuts the connection: nothing has landed,
// and the next one lands.
func TestHostKilledWhileItIsFetchedFrom(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "demo")
	m.turnThere("demo", "do: run head -c 300000 /dev/urandom > far.bin")
	tip := m.git(m.repo, "rev-parse", "main")
	bin := filepath.Join(m.root, "there-bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(m.root, "profile"), "export PATH='"+bin+"':\"$PATH\"\n", 0o600)
	for what, then := range map[string]string{
		"its git and its paw":              "kill -9 $PPID",
		"its git":                          "exit 1",
		"the connection":                   "kill -9 $(ps -o ppid= $(ps -o ppid= $PPID)); sleep 1",
		"its git, before it said anything": "",
	} {
		half := "/usr/bin/git \"$@\" | stdbuf -o0 head -c 100000"
		if then == "" {
			half, then = ":", "exit 1"
		}
		m.write(filepath.Join(bin, "git"), "#!/bin/sh\ncase \"$*\" in *upload-pack*) "+half+"; "+then+" ;; esac\nexec /usr/bin/git \"$@\"\n", 0o755)
		if out, code := m.with(nil, "land", "gpu:demo"); code != 1 || !strings.Contains(out, "gpu") {
			t.Errorf("%s: exit code %d\n%s", what, code, out)
		} else {
			t.Logf("%s: %s", what, out)
		}
		if m.git(m.repo, "rev-parse", "main") != tip || m.git(m.repo, "status", "--porcelain") != "" {
			t.Errorf("%s: something has landed", what)
		}
	}
	os.Remove(filepath.Join(bin, "git"))
	m.ok("land", "gpu:demo")
	m.git(m.repo, "fsck", "--no-progress")
}
