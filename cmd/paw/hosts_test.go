package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A host is added, agents run on it, and commands for HOST:AGENT act there.
func TestHostFromNothingToATurn(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	if out := m.ok("host", "add", "gpu", "gpu-box"); !strings.Contains(out, "paw start --on gpu") {
		t.Errorf("host add: %s", out)
	}
	if out := m.ok("host", "list"); !strings.Contains(out, m.repoThere) {
		t.Errorf("host list: %s", out)
	}
	out := m.ok("start", "--on", "gpu", "--cli", "demo", "--prompt", "do: write far.txt there")
	if strings.Contains(out, "Welcome") {
		t.Errorf("a greeting is in the answer: %s", out)
	}
	if sessions, _ := os.ReadDir(filepath.Join(m.root, "here", ".local/share/paw/sessions")); len(sessions) > 0 {
		t.Errorf("a session was made here: %v", sessions)
	}
	m.ok("wait", "gpu:demo")
	if out := m.ok("turns", "gpu:demo"); !strings.Contains(out, "write far.txt") {
		t.Errorf("turns: %s", out)
	}
	if out := m.ok("diff", "gpu:demo"); !strings.HasPrefix(out, "diff --git") || !strings.Contains(out, "+there") {
		t.Errorf("diff is no patch: %q", out)
	}
	applied := exec.Command("git", "apply", "--3way")
	applied.Dir, applied.Stdin = m.repo, strings.NewReader(m.ok("diff", "gpu:demo"))
	if out, err := applied.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v: %s", err, out)
	}
	conf, err := os.ReadFile(m.conf)
	if err != nil {
		t.Fatal(err)
	}
	m.write(m.conf, "Host gpu-box\n  HostName 127.0.0.1\n  Port 1\n", 0o600)
	m.says(1, "paw: error: gpu: not reached: ", "turns", "gpu:demo") // the connection to the machine of before stands
	m.write(m.conf, string(conf), 0o600)
	m.ok("send", "gpu:demo", "do: write", "second.txt", "x")
	m.ok("wait", "gpu:shop/demo")
	if out := m.ok("log", "gpu:demo"); !strings.Contains(out, "second.txt") {
		t.Errorf("log: %s", out)
	}
	if out := m.ok("blame", "gpu:demo", "far.txt:1"); !strings.Contains(out, "1  there\nshop/demo 1, ") {
		t.Errorf("blame: %s", out)
	}
	for _, words := range [][]string{{"diff", "gpu:demo", "1"}, {"diff", "gpu:demo", "1..2"}, {"diff", "gpu:demo", "--", "far.txt"}, {"log", "gpu:demo", "1"}} {
		if out := m.ok(words...); !strings.Contains(out, "far.txt") && !strings.Contains(out, "second.txt") {
			t.Errorf("paw %v: %s", words, out)
		}
	}
	for _, words := range [][]string{{"gpu:demo", "do: write queued.txt x"}, {"--session", "gpu:shop", "demo", "do: write again.txt x"}} {
		m.ok(append([]string{"queue", "add"}, words...)...)
	}
	waitFor(t, "both are done", func() bool { return strings.Count(m.ok("queue", "gpu:shop"), " done ") == 2 })
	if out := m.ok("queue", "drop", "t1", "--session", "gpu:shop"); !strings.Contains(out, "t1: is done") {
		t.Errorf("queue drop: %s", out)
	}
	m.ok("review", "gpu:demo", "--on", "far.txt:1", "who: there?")
	if out := m.ok("review", "gpu:demo", "--list"); !strings.Contains(out, "who: there?") {
		t.Errorf("review: %s", out)
	}
	// paw exits here as the paw on the host exits.
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"turns", "gpu:nobody"}, 10, "nobody"},
		{[]string{"path", "gpu:demo"}, 2, "ssh -t gpu-box"},
		{[]string{"diff", "gpu:demo", "demo"}, 2, "more than one machine"},
		{[]string{"start", "--on", "gpus", "--cli", "demo"}, 10, "did you mean gpu"},
		{[]string{"remove", "gpu:demo"}, 3, ""},
	} {
		out, complaints, code := m.paw(tt.args...)
		if code != tt.code || !strings.Contains(out+complaints, tt.says) {
			t.Errorf("paw %v: exit code %d, want %d\n%s%s", tt.args, code, tt.code, out, complaints)
		}
	}
	// Hints about a host name the host, so that a pasted line never means a local agent of the same
	// name.
	m.ok("start", "--cli", "demo", "--detach")
	m.says(3, "paw: hint: paw remove gpu:shop/demo --force\n", "remove", "gpu:demo")
	m.says(3, "paw: hint: ssh -t gpu-box 'git -C ", "remove", "gpu:demo")
	m.says(0, "demo removed", "remove", "demo", "--force", "--session", "gpu:shop")
	if out := m.ok("status", "--here"); !strings.Contains(out, "  demo") {
		t.Errorf("an agent of this machine is gone: %s", out)
	}
	m.says(0, "paw attach gpu:shop shows it\n", "add", "--on", "gpu", "--cli", "more=demo")
	m.ok("stop", "gpu:shop")
	m.ok("host", "remove", "gpu")
	if text, err := os.ReadFile(filepath.Join(m.root, "here/.config/paw/config.toml")); err != nil || strings.Contains(string(text), "gpu") {
		t.Errorf("%q, %v", text, err)
	}
}

// Agents of hosts are in the same list as local ones; a host that does not answer is a row with the
// last states and their age.
func TestHostsInTheSameList(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	m.ok("host", "add", "gpu", "gpu-box")
	m.patient(20, "gpu")
	m.ok("start", "--on", "gpu", "--cli", "demo")
	m.ok("start", "--name", "near", "--cli", "demo", "--detach")
	out := m.ok("status")
	if !strings.Contains(out, "near  active") || !strings.Contains(out, "gpu:shop  active") {
		t.Errorf("status: %s", out)
	}
	if out := m.ok("status", "--here"); strings.Contains(out, "gpu") {
		t.Errorf("status --here: %s", out)
	}
	var view struct {
		Sessions []struct {
			Name, Host string
			Agents     []struct{ Name, Host string }
		}
		Hosts []hostJSON
	}
	read := func() {
		t.Helper()
		view.Sessions, view.Hosts = nil, nil
		if err := json.Unmarshal([]byte(m.ok("status", "--json")), &view); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if len(view.Sessions) != 2 || view.Sessions[0].Host != "" || view.Sessions[1].Host != "gpu" || view.Sessions[1].Agents[0].Host != "gpu" || !view.Hosts[0].Reached {
		t.Errorf("%+v", view)
	}

	m.cut() // the machine is switched off
	began := time.Now()
	out = m.ok("status")
	if !strings.Contains(out, "gpu  unreachable  ") || !strings.Contains(out, "as of ") || !strings.Contains(out, "gpu:shop") {
		t.Errorf("status: %s", out)
	}
	t.Logf("%s", time.Since(began))
	read()
	if view.Hosts[0].Reached || view.Hosts[0].AsOf == nil || len(view.Sessions) != 2 {
		t.Errorf("%+v", view)
	}
	if _, complaints, code := m.paw("turns", "gpu:demo"); code != 1 || !strings.Contains(complaints, "gpu: not reached") {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	if _, complaints, code := m.paw("wait", "gpu:demo", "--timeout", "1s"); code != 7 || !strings.Contains(complaints, "asking again") {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	m.connect()
	waitFor(t, "the host is reached again", func() bool { return strings.Contains(m.ok("status"), "gpu:shop  active") })
}

// A host that freezes behind an open connection is given up after its patience, and reached again
// when it goes on.
func TestFrozenHost(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	m.ok("host", "add", "gpu", "gpu-box")
	m.ok("start", "--on", "gpu", "--cli", "demo")
	m.ok("status")
	m.freeze(true)
	for range 3 {
		if out := m.ok("status"); !strings.Contains(out, "gpu  unreachable  ") && !strings.Contains(out, "gpu  connecting") {
			t.Errorf("status: %s", out)
		}
	}
	m.freeze(false)
	waitFor(t, "the host is reached again", func() bool { return strings.Contains(m.ok("status"), "gpu:shop  active") })
}

// With any login shell and any greeting on the host, a request arrives word for word, and paw is
// installed from this machine.
func TestLoginShells(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "dash", "fish", "tcsh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed", name)
			}
			m := newMachines(t, shell)
			m.ok("host", "add", "gpu", "gpu-box", "--install")
			m.patient(20, "gpu")
			if installed, _ := filepath.Glob(filepath.Join(m.there, ".local/share/paw/bin/paw-*")); len(installed) != 1 {
				t.Errorf("installed: %v", installed)
			}
			m.ok("host", "doctor", "gpu")
			m.ok("start", "--on", "gpu", "--cli", "demo")
			const words = `do: say it's "quoted" $HOME !! * ü`
			m.ok("send", "gpu:demo", words)
			m.ok("wait", "gpu:demo")
			if out := m.ok("turns", "gpu:demo", "--json"); !strings.Contains(out, `it's \"quoted\" $HOME !! * ü`) {
				t.Errorf("turns: %s", out)
			}
		})
	}
}

// TestHostWithAnOlderPaw has a paw on the host that does not know requests from other machines:
// each command says so with a hint, and the hint cures it.
func TestHostWithAnOlderPaw(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	older := filepath.Join(m.there, ".local/bin/paw")
	if err := os.MkdirAll(filepath.Dir(older), 0o700); err != nil {
		t.Fatal(err)
	}
	m.write(older, "#!/bin/sh\necho \"paw: error: $1: no such command\" >&2\necho 'paw: hint: paw --help' >&2\nexit 2\n", 0o755)
	m.write(filepath.Join(m.root, "profile"), "PATH="+filepath.Dir(older)+":$PATH\n", 0o644)
	const cure = "paw host add gpu gpu-box --install"
	for _, known := range []bool{false, true} {
		if known {
			config := filepath.Join(m.root, "here/.config/paw/config.toml")
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			program := regexp.MustCompile("(?m)^paw = .*")
			m.write(config, program.ReplaceAllString(string(text), "paw = \""+older+"\""), 0o600)
			m.says(12, cure, "start", "--on", "gpu", "--cli", "demo")
			m.says(12, cure, "wait", "gpu:demo")
			if out := m.ok("status"); !strings.Contains(out, "too old") {
				t.Errorf("status: %s", out)
			}
		} else {
			m.says(12, cure, "host", "add", "gpu", "gpu-box")
		}
		m.says(0, "installed", strings.Fields(cure)[1:]...)
		if !known {
			m.patient(20, "gpu")
		}
		m.ok("host", "doctor", "gpu")
	}
	m.ok("start", "--on", "gpu", "--cli", "demo")
}

// Variables are passed by name only, and reach the CLI on the host.
func TestVariablesAreHandedOver(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	m.ok("host", "add", "gpu", "gpu-box")
	file := filepath.Join(m.root, "here/.config/paw/config.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m.write(file, strings.Replace(string(text), "ssh = ", "env = [\"SECRET_KEY\"]\nssh = ", 1), 0o600)
	m.env = append(m.env, "SECRET_KEY=sk-1", "OTHER_KEY=sk-2")
	m.ok("start", "--on", "gpu", "--cli", "demo")
	m.ok("send", "gpu:demo", `do: run printf '%s-%s' "$SECRET_KEY" "$OTHER_KEY" > keys`)
	m.ok("wait", "gpu:demo")
	if keys, err := os.ReadFile(filepath.Join(m.there, "src/shop.paw/shop/demo/keys")); string(keys) != "sk-1-" {
		t.Errorf("%q, %v", keys, err)
	}
}
