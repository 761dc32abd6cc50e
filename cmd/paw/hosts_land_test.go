package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// landMachines returns two machines with started agents on the host.
func landMachines(t *testing.T, agents string) *machines {
	t.Helper()
	m := newMachines(t, "/bin/sh")
	m.ok("host", "add", "gpu", "gpu-box")
	m.ok("start", "--on", "gpu", "--cli", agents)
	return m
}

// turnThere sends an agent on the host a prompt and waits for the end of the turn.
func (m *machines) turnThere(agent, prompt string) {
	m.t.Helper()
	m.ok("send", "gpu:"+agent, prompt)
	m.ok("wait", "gpu:"+agent)
}

func (m *machines) has(path, want string) {
	m.t.Helper()
	if got, err := os.ReadFile(filepath.Join(m.repo, path)); string(got) != want || err != nil && want != "" {
		m.t.Errorf("%s is %q, want %q (%v)", path, got, want, err)
	}
}

// says runs paw, and fails the test unless its exit code and output are as given.
func (m *machines) says(code int, says string, args ...string) string {
	m.t.Helper()
	out, complaints, got := m.paw(args...)
	if got != code || !strings.Contains(out+complaints, says) {
		m.t.Errorf("paw %v: exit code %d, want %d and %q\n%s%s", args, got, code, says, out, complaints)
	}
	return out + complaints
}

// What an agent on a host has done, committed or not, lands as from this machine: once, with later
// work, undone, and again.
func TestLandFromAHost(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "one=demo,two=demo")
	m.turnThere("one", "do: write far.txt there\ndo: append README more")
	m.says(0, "far.txt", "land", "gpu:one", "--dry-run")
	m.has("far.txt", "")
	m.says(0, "fits", "forecast", "gpu:one")
	m.says(0, "passed", "check", "--here", "gpu:one", "test -e far.txt")
	m.says(9, "", "check", "--here", "gpu:one", "test -e other.txt")
	m.says(0, "paw land --undo 1 --session gpu:shop", "land", "gpu:one")
	m.has("far.txt", "there\n")
	m.has("README", "shop\nmore\n")
	if got := m.git(m.repo, "status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
	if got := m.git(m.repo, "log", "-1", "--format=%B"); !strings.Contains(got, "Paw-Agent: gpu:shop/one") || !strings.Contains(got, "Paw-Turns: 1") {
		t.Errorf("the message is\n%s", got)
	}
	m.says(0, "nothing to land", "land", "gpu:one")
	m.says(0, "gpu:shop/one: nothing to land", "land", "gpu:shop/one@1")
	m.turnThere("one", "do: write far.txt there, and changed")
	m.says(0, "turn 2", "land", "gpu:one")
	m.has("far.txt", "there, and changed\n")
	m.says(0, "gpu:shop/one 1  demo", "blame", "README")
	m.says(0, "paw diff gpu:shop/one 2", "blame", "far.txt:1")
	m.says(0, "landed", "land", "--list", "--session", "gpu:shop")
	m.says(0, "undone: landing 2", "land", "--undo", "--session", "gpu:shop")
	m.has("far.txt", "there\n")
	m.says(0, "turn 2", "land", "gpu:one")
	m.git(m.repo, "revert", "--no-edit", "HEAD")
	m.has("far.txt", "there\n")
	m.turnThere("one", "do: write new.txt x")
	m.says(0, "--again", "land", "gpu:one", "--dry-run")
	m.ok("land", "gpu:one", "--again")
	m.has("far.txt", "there, and changed\n")
	m.has("new.txt", "x\n")
	m.turnThere("two", "do: run echo by two > two.txt && git add two.txt && git commit -qm two")
	m.turnThere("one", "do: write one.txt by one")
	m.says(0, "gpu:shop/two", "land", "gpu:one", "gpu:two")
	m.has("one.txt", "by one\n")
	m.has("two.txt", "by two\n")
	m.says(0, "gpu:shop/two 1 ", "blame", "two.txt")
	m.turnThere("one", "do: write README one")
	m.turnThere("two", "do: write README two")
	m.says(8, "two: README", "forecast", "gpu:one", "gpu:two")
	m.says(8, "1 of 2 agents not landed", "land", "gpu:one", "gpu:two", "--keep-going")
	for _, ref := range strings.Fields(m.git(m.repo, "for-each-ref", "--format=%(refname)", "refs/paw", "refs/heads", "refs/tags")) {
		if !strings.HasPrefix(ref, "refs/paw/@gpu/") && !strings.HasPrefix(ref, "refs/paw/graft/") && ref != "refs/heads/main" {
			t.Errorf("%s is not below the name of the host", ref)
		}
	}
	m.git(m.repo, "fsck", "--no-progress")
}

// What cannot land from a host is refused as on this machine, with hints that work on this machine.
func TestRefusedFromAHost(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "demo")
	m.turnThere("demo", "do: write a.txt one")
	m.ok("send", "gpu:demo", "do: hang")
	waitFor(t, "it is at work", func() bool { return strings.Contains(m.ok("status", "--json"), `"running"`) })
	m.says(3, "paw land gpu:shop/demo@1", "land", "gpu:demo")
	m.says(3, "paw land gpu:shop/demo@1 --as merge --into rel", "land", "gpu:demo", "--into", "rel", "--as", "merge")
	m.says(3, "paw check gpu:shop/demo@1", "check", "gpu:demo", "--", "true")
	m.says(0, "turn 1", "land", "gpu:demo@1")
	m.has("a.txt", "one\n")
	m.says(10, "demos", "land", "gpu:demos")
	m.says(10, "has no turn 7", "land", "gpu:demo@7")
	m.says(2, "--remove", "land", "gpu:demo", "--remove")
	m.says(10, "nothing of it has landed here", "land", "--list", "--session", "gpu:other")
	m.ok("stop", "gpu:shop")
	m.write(filepath.Join(m.repo, "README"), "mine\n", 0o644)
	m.says(0, "nothing to land", "land", "gpu:demo")
	m.write(filepath.Join(m.there, "src/shop.paw/shop/demo/README"), "theirs\n", 0o644)
	m.says(3, "the landing would write over README", "land", "gpu:demo")
	m.git(m.repo, "commit", "-qam", "mine")
	m.says(8, "README", "land", "gpu:demo")
	var view struct{ Conflicts []struct{ Path string } }
	out, _, _ := m.paw("land", "gpu:demo", "--json")
	if err := json.Unmarshal([]byte(out), &view); err != nil || len(view.Conflicts) != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

// A host's repository that has no commit in common with the local one is refused.
func TestUnrelatedHost(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	if err := os.RemoveAll(m.repoThere); err != nil {
		t.Fatal(err)
	}
	m.git(m.there, "init", "-q", "-b", "main", m.repoThere)
	m.write(filepath.Join(m.repoThere, "other"), "other\n", 0o644)
	m.git(m.repoThere, "add", ".")
	m.git(m.repoThere, "commit", "-qm", "another one")
	m.ok("host", "add", "gpu", "gpu-box", "--repo", m.repoThere)
	m.ok("start", "--on", "gpu", "--cli", "demo")
	m.turnThere("demo", "do: write a.txt one")
	m.says(3, "no common commit with main: is it a clone of this repository?", "land", "gpu:demo")
	m.has("a.txt", "")
}

// A local agent starts from the end of a turn of a host's agent: with its files, and a brief of its
// conversation.
func TestAddFromAHost(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "one=demo")
	m.turnThere("one", "do: run echo committed > c.txt && git add c.txt && git commit -qm c\ndo: run echo loose > loose.txt")
	m.ok("start", "--name", "near", "--cli", "local=demo", "--detach")
	m.says(10, "gpus: no such host (did you mean gpu?)", "add", "--cli", "on=demo", "--from", "gpus:one")
	m.says(10, "nobody", "add", "--cli", "on=demo", "--from", "gpu:nobody")
	m.says(0, "handed over 2 messages of gpu:shop/one", "add", "--cli", "on=demo", "--from", "gpu:one")
	place := filepath.Join(filepath.Dir(m.repo), "shop.paw/near/on")
	for name, want := range map[string]string{"c.txt": "committed\n", "loose.txt": "loose\n"} {
		if got, err := os.ReadFile(filepath.Join(place, name)); string(got) != want {
			t.Errorf("%s is %q: %v", name, got, err)
		}
	}
	m.ok("wait", "near/on")
	m.says(0, "gpu:shop/one 1 ", "blame", "near/on", "loose.txt")
	if out := m.ok("turns", "near/on", "--json"); !strings.Contains(out, "gpu:shop/one") {
		t.Errorf("turns: %s", out)
	}
	m.says(0, "along came work of gpu:shop/one", "land", "near/on")
	m.has("loose.txt", "loose\n")
	m.says(0, "nothing to land", "land", "gpu:one")
}
