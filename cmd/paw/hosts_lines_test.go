package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// localLine finds a command that means an agent or session of this machine, or a file of the host.
var localLine = regexp.MustCompile(`(?m)(^|[^'&] )(paw [a-z]+ (shop|demo)\b|paw .*--session shop\b|git (-C|show) .*|rm -rf .*)`)

// Commands in the output of a host's paw name the host, since a session of this machine has the
// same name.
func TestCommandsInOutputNameTheHost(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "demo")
	m.ok("start", "--cli", "demo", "--detach")
	says := func(want string, args ...string) {
		t.Helper()
		if said := m.says(0, want, args...); localLine.MatchString(said) {
			t.Errorf("paw %v: %q acts on this machine:\n%s", args, localLine.FindString(said), said)
		}
	}
	m.turnThere("demo", "do: write far.txt there")
	says("gpu:shop  active", "status", "gpu:shop")
	says("paw review gpu:demo --send sends it", "review", "gpu:demo", "--on", "far.txt:1", "paw stop shop")
	says("paw land --undo 1 --session gpu:shop", "land", "gpu:demo")
	says("; paw rewind gpu:shop/demo --undo takes it back\n", "rewind", "gpu:demo", "0")
	says("(paw rewind gpu:shop/demo --undo)\n", "turns", "gpu:demo")
	if said := m.ok("rewind", "gpu:demo", "0", "--json"); strings.Contains(said, "gpu") {
		t.Errorf("the JSON names the host: %s", said)
	}
	m.ok("rewind", "gpu:shop/demo", "--undo")
	m.ok("send", "gpu:demo", "do: sleep 600")
	m.ok("send", "gpu:demo", "do: write later.txt x")
	says("; paw send gpu:shop/demo --queued sends it again", "stop", "gpu:demo")
	says("paw recover gpu:shop gpu:demo brings it back", "stop", "gpu:demo")
	says(`paw send gpu:shop/demo "go on" lets it go on`, "recover", "gpu:demo", "--detach")
	m.ok("stop", "gpu:shop")
	says("; paw recover gpu:shop brings it back", "stop", "gpu:shop")
	says("  paw recover gpu:shop brings them back\n", "status", "gpu:shop")
	m.write(filepath.Join(m.there, "src/shop.paw/shop/demo/open.txt"), "open\n", 0o644)
	said := m.ok("purge", "gpu:shop", "--yes", "--force")
	for _, want := range []string{
		"its turn tags and what was rescued stay, and keep the name taken: paw purge gpu:shop --tags --force deletes them\n",
		"  drop: paw purge gpu:shop --tags --force\n", "  look: ssh -t gpu-box 'cd " + m.repoThere + " && git show ",
		"  back: ssh -t gpu-box 'git -C " + m.repoThere + " worktree add ", "  drop: ssh -t gpu-box 'git -C ", "  drop: ssh -t gpu-box 'rm -rf ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
	if localLine.MatchString(said) {
		t.Errorf("%q acts on this machine:\n%s", localLine.FindString(said), said)
	}
	if out := m.ok("status", "--here"); !strings.Contains(out, "shop  active") {
		t.Errorf("the session of this machine: %s", out)
	}
}
