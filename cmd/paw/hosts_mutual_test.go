package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMachinesThatAreHostsOfEachOther has two machines, each of which names the other as a host. The machine that is asked reports its own
// agents and asks no host.
func TestMachinesThatAreHostsOfEachOther(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	m.ok("host", "add", "gpu", "gpu-box")
	m.patient(20, "gpu")
	m.ok("start", "--on", "gpu", "--cli", "demo")
	asked := filepath.Join(m.root, "asked")
	back := filepath.Join(m.there, ".config/paw")
	if err := os.MkdirAll(back, 0o700); err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(back, "config.toml"), "[hosts.back]\nssh = \"back-box\"\nrepos = {\""+m.repoThere+"\" = \"src/shop\"}\n", 0o600)
	m.write(filepath.Join(m.root, "profile"), "mkdir -p '"+m.there+"/bin'\nPATH='"+m.there+"/bin':$PATH\n", 0o644)
	if err := os.MkdirAll(filepath.Join(m.there, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(m.there, "bin/ssh"), "#!/bin/sh\necho \"$*\" >> '"+asked+"'\nexit 255\n", 0o755)
	for _, words := range [][]string{{"status"}, {"status", "--all"}, {"next", "--dry-run"}} {
		if out, _, _ := m.paw(words...); words[0] == "status" && !strings.Contains(out, "gpu:shop  active") {
			t.Errorf("paw %v: %s", words, out)
		}
	}
	if text, err := os.ReadFile(asked); err == nil {
		t.Errorf("the host asked its own hosts:\n%s", text)
	}
}
