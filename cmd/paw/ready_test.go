package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// portsAlone keeps other tests, of this process and of others, off the ports of agents. A test with
// another HOME sees a port in use only when a server listens. The lock is in one folder for tests of
// any TMPDIR.
func portsAlone(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/tmp/paw-test-ports.lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for end := time.Now().Add(5 * time.Minute); syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("another test has the ports for ever")
		}
	}
}

// portsOf returns the first port of each agent of a session.
func (w *world) portsOf(dir string, extra []string, args ...string) map[string]int {
	w.t.Helper()
	out := w.ok(w.run(dir, extra, pawForTests(), append([]string{"status", "--json"}, args...)...)).stdout
	found := map[string]int{}
	for _, m := range regexp.MustCompile(`"name":"(\w+)","cli":.*?"ports":\[(\d+),`).FindAllStringSubmatch(out, -1) {
		found[m[1]], _ = strconv.Atoi(m[2])
	}
	return found
}

// listen listens on a port of one address of this machine until the test ends.
func listen(t *testing.T, network, address string, port int) {
	t.Helper()
	l, err := net.Listen(network, net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		t.Skipf("this machine does not listen on %s: %v", address, err)
	}
	t.Cleanup(func() { l.Close() })
}

// TestServersOfAgentsAllAnswer runs a server in each of five agents, of two sessions in two
// repositories, on the agent's port, while other programs use ports in between.
func TestServersOfAgentsAllAnswer(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	portsAlone(t)
	w := newWorld(t)
	w.configure(`[worktree]
ports = 10
env = { PORT = "{port}", LAST = "{port+9}" }
[clis.server]
command = ["sh", "-c", "basename $PWD > who; exec python3 -m http.server $PORT --bind 127.0.0.1 2>log"]
`)
	other := filepath.Join(w.root, "other")
	w.git(w.root, "clone", "-q", w.repo, other)
	w.ok(w.paw("start", "--cli", "a=server,b=server", "--detach"))
	first := w.portsOf(w.repo, nil)
	free := max(first["a"], first["b"]) + 10
	listen(t, "tcp4", "127.0.0.1", free+3)
	listen(t, "tcp6", "::1", free+13)
	listen(t, "tcp4", "0.0.0.0", free+23)
	w.ok(w.run(other, nil, pawForTests(), "start", "--cli", "c=server,d=server", "--detach"))
	w.ok(w.paw("add", "--cli", "e=server"))
	ports := w.portsOf(w.repo, nil, "--all")
	if len(ports) != 5 {
		t.Fatalf("ports %v", ports)
	}
	for _, agent := range []string{"c", "d", "e"} {
		if ports[agent] < free+30 && ports[agent] != first["a"] && ports[agent] != first["b"] && ports[agent] >= free {
			t.Errorf("%s has %d, where somebody else listens", agent, ports[agent])
		}
	}
	for agent, port := range ports {
		waitFor(t, agent+" answers", func() bool {
			answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/who", port))
			if err != nil {
				return false
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			return strings.TrimSpace(string(text)) == agent
		})
	}
}

// TestEightStartsAtOnceShareNoPort starts eight sessions at the same time.
func TestEightStartsAtOnceShareNoPort(t *testing.T) {
	t.Parallel()
	portsAlone(t)
	w := newWorld(t)
	w.configure("[worktree]\nports = 3\n")
	w.okAll(w.atOnce(8, func(i int) []string {
		return []string{"start", "--name", fmt.Sprint("s", i), "--cli", fmt.Sprintf("a%d=demo,b%d=demo", i, i), "--detach"}
	}))
	var firsts []int
	for _, port := range w.portsOf(w.repo, nil, "--all") {
		firsts = append(firsts, port)
	}
	slices.Sort(firsts)
	if len(firsts) != 16 {
		t.Fatalf("%d agents have ports: %v", len(firsts), firsts)
	}
	for i := range firsts[1:] {
		if firsts[i+1] < firsts[i]+3 {
			t.Errorf("blocks of 3 from %d and %d on", firsts[i], firsts[i+1])
		}
	}
}

// TestRecoverNamesWhoHasAPort occupies a port of a stopped agent: paw recover names the port and
// the process.
func TestRecoverNamesWhoHasAPort(t *testing.T) {
	t.Parallel()
	portsAlone(t)
	w := newWorld(t)
	w.configure("[worktree]\nports = 2\n")
	w.start("demo")
	w.ok(w.paw("stop"))
	port := w.portsOf(w.repo, nil)["demo"] + 1
	listen(t, "tcp4", "127.0.0.1", port)
	out := w.ok(w.paw("recover", "shop", "--detach"))
	if want := fmt.Sprintf("demo: its port %d is taken by pid %d", port, os.Getpid()); !strings.Contains(out.stdout+out.stderr, want) {
		t.Errorf("want %q in\n%s%s", want, out.stdout, out.stderr)
	}
	w.ready("demo")
	if got := w.portsOf(w.repo, nil)["demo"]; got != port-1 {
		t.Errorf("its block begins at %d, and began at %d", got, port-1)
	}
}

const readyConfiguration = `[worktree]
ports = 2
env = { PORT = "{port}" }
setup = "echo FOUND=$PORT >> $PAW_ENV"
teardown = "echo $FOUND $PORT >> ../../../torn; echo x > left"
`

// TestReadyKilledAfterEveryStep kills paw while it gives agents ports, sets up and tears down. The
// next command ends as the one that was not killed; the teardown has run at least once, and never
// for a removal that was refused.
func TestReadyKilledAfterEveryStep(t *testing.T) {
	t.Parallel()
	portsAlone(t)
	start := []string{"start", "--cli", "one=demo", "--detach", "--wait-setup"}
	started := func(w *world) {
		w.configure(readyConfiguration)
		w.write(w.root, "shop.paw/kept", "\n") // purge would remove the folder if it were empty
		w.ok(w.paw(start...))
		w.ready("one") // an agent that starts may be in a turn, and is not removed
	}
	for _, c := range []crashCase{
		{name: "start", prepare: func(w *world) { w.configure(readyConfiguration) }, command: start},
		{name: "remove", prepare: started, command: []string{"remove", "one"}},
		{name: "purge", prepare: started, command: []string{"purge", "--yes"}},
	} {
		whole := newWorld(t)
		whole.given(c)
		steps := whole.stepsOf(c)
		want := whole.state()
		for _, at := range steps {
			t.Run(c.name+" "+at, func(t *testing.T) {
				w := newWorld(t)
				w.given(c)
				w.kill(at, c.command...)
				_, err := os.Stat(filepath.Join(w.root, "home/.local/share/paw/sessions/shop.json"))
				if c.name == "purge" || err != nil { // either nothing was begun, or everything is done
					waitFor(t, "the command is carried out", func() bool { return w.paw(c.command...).code == 0 })
				} else {
					w.ok(w.paw("recover", "--detach"))
				}
				if diff := cmp.Diff(want, w.state()); diff != "" {
					t.Errorf("the world differs (-uninterrupted +killed)\n%s", diff)
				}
				torn, _ := os.ReadFile(filepath.Join(w.root, "torn"))
				lines := strings.Count(string(torn), "\n")
				if c.name == "start" && lines > 0 || c.name != "start" && lines == 0 {
					t.Errorf("the teardown has run %d times", lines)
				}
				if c.name == "start" {
					whole, now := whole.ok(whole.paw("env", "one")).stdout, w.ok(w.paw("env", "one")).stdout
					if diff := cmp.Diff(whole, now); diff != "" {
						t.Errorf("its variables (-uninterrupted +killed)\n%s", diff)
					}
				}
			})
		}
	}
}

// TestTeardownSparesWhatIsRefused writes into a worktree after its removal was planned: the
// teardown does not run.
func TestTeardownSparesWhatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[worktree]\nteardown = \"echo torn >> ../../../torn\"\n")
	w.start("one")
	out := w.pawWith([]string{"PAW_TEST_AT=remove.agent-ended", "PAW_TEST_DO=echo mine > " + filepath.Join(w.worktree("one"), "mine")}, "remove", "one")
	if out.code != 3 || !strings.Contains(out.stderr, "one has 1 untracked file") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if _, err := os.Stat(filepath.Join(w.root, "torn")); err == nil {
		t.Error("the teardown has run")
	}
	if got := w.readFile("../shop.paw/shop/one/mine"); got != "mine\n" {
		t.Errorf("the work is %q", got)
	}
}
