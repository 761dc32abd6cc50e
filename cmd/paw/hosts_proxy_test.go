package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// link is the network between this machine and a host: a proxy on loopback before the host's sshd.
type link struct {
	l      net.Listener
	target string

	mu      sync.Mutex
	changed *sync.Cond
	delay   time.Duration // of each piece of data, in each direction
	frozen  bool          // connections stay open, and no data passes
	hole    bool          // new connections are accepted but never answered
	open    map[net.Conn]bool
}

// newLink puts a proxy before the host's port; name is the host name that ssh then uses.
func (m *machines) newLink(name string) *link {
	m.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	k := &link{l: l, target: fmt.Sprintf("127.0.0.1:%d", m.port), open: map[net.Conn]bool{}}
	k.changed = sync.NewCond(&k.mu)
	conf, err := os.ReadFile(m.conf)
	if err != nil {
		m.t.Fatal(err)
	}
	block := strings.Replace(string(conf), "Host gpu-box\n", "Host "+name+"\n", 1)
	block = strings.Replace(block, fmt.Sprintf("Port %d\n", m.port), fmt.Sprintf("Port %d\n", l.Addr().(*net.TCPAddr).Port), 1)
	block, _, _ = strings.Cut(block, "\nHost ")
	m.write(m.conf, string(conf)+"\n"+block, 0o600)
	go k.serve()
	m.t.Cleanup(func() {
		l.Close()
		k.set(func() { k.frozen, k.hole = false, false })
		k.cut()
	})
	return k
}

// set changes the network.
func (k *link) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
	k.changed.Broadcast()
}

// cut ends all connections.
func (k *link) cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.open {
		c.Close()
	}
}

func (k *link) serve() {
	for {
		c, err := k.l.Accept()
		if err != nil {
			return
		}
		go k.connect(c)
	}
}

func (k *link) connect(near net.Conn) {
	defer k.keep(near)()
	k.mu.Lock()
	hole := k.hole
	k.mu.Unlock()
	if hole {
		_, _ = io.Copy(io.Discard, near)
		return
	}
	far, err := net.Dial("tcp", k.target)
	if err != nil {
		return
	}
	defer k.keep(far)()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			k.pass(way[0], way[1])
			done <- struct{}{}
		}()
	}
	<-done
}

// keep registers a connection. forget closes the connection and removes it.
func (k *link) keep(c net.Conn) (forget func()) {
	k.set(func() { k.open[c] = true })
	return func() {
		c.Close()
		k.set(func() { delete(k.open, c) })
	}
}

// pass copies data, each piece after the delay. Pieces do not wait for the delay of earlier ones,
// as in a real network.
func (k *link) pass(from, to net.Conn) {
	type piece struct {
		text []byte
		due  time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			text := make([]byte, 32<<10)
			n, err := from.Read(text)
			if err != nil {
				return
			}
			k.mu.Lock()
			due := time.Now().Add(k.delay)
			k.mu.Unlock()
			pieces <- piece{text[:n], due}
		}
	}()
	for p := range pieces {
		<-time.After(time.Until(p.due))
		k.mu.Lock()
		for k.frozen {
			k.changed.Wait()
		}
		k.mu.Unlock()
		if _, err := to.Write(p.text); err != nil {
			return
		}
	}
}

// patient raises how long commands wait for hosts, since the machine may be busy with other tests.
func (m *machines) patient(seconds int, names ...string) {
	m.t.Helper()
	path := filepath.Join(m.root, "here/.config/paw/config.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, name := range names {
		text = []byte(strings.Replace(string(text), "[hosts."+name+"]\n", "[hosts."+name+fmt.Sprintf("]\npatience = %d\n", seconds), 1))
	}
	m.write(path, string(text), 0o600)
}

// hostRow returns the line of paw status about a host that did not answer, "" for none, and whether
// sessions of the host are listed.
func (m *machines) hostRow(name string) (row string, known bool) {
	m.t.Helper()
	out := m.ok("status")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, name+"  ") {
			row = strings.TrimSpace(line)
		}
		known = known || strings.HasPrefix(line, name+":shop  ")
	}
	return row, known
}

// TestHostBehindABadNetwork slows the network to a host, freezes it, cuts it during a wait, and
// leaves new connections unanswered. Every command ends in spite of that and concludes nothing from
// silence, and the host is reached again once the network works.
func TestHostBehindABadNetwork(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	k := m.newLink("far-box")
	k.set(func() { k.delay = 150 * time.Millisecond }) // a round trip takes 300 ms
	m.ok("host", "add", "gpu", "far-box")
	m.patient(6, "gpu")
	m.ok("start", "--on", "gpu", "--cli", "demo")
	m.turnThere("demo", "do: write far.txt there")
	reached := func() {
		t.Helper()
		waitFor(t, "the host is reached", func() bool { row, known := m.hostRow("gpu"); return row == "" && known })
	}
	reached()

	k.set(func() { k.frozen = true })
	for range 3 {
		if row, known := m.hostRow("gpu"); row == "" || !known {
			t.Errorf("frozen: the row is %q, states known: %t", row, known)
		}
	}
	m.says(7, "gpu: not finished after 1s", "wait", "gpu:demo", "--timeout", "1s")
	k.set(func() { k.frozen = false })
	reached()

	m.ok("send", "gpu:demo", "do: hang")
	waitFor(t, "nobody asks the host", func() bool { return m.asking() == 0 })
	waiting, out := m.waiting("gpu:demo")
	waitFor(t, "the host is asked", func() bool { return m.asking() > 0 })
	k.cut()
	waitFor(t, "the cut is said", func() bool { return strings.Contains(out(), "asking again") })
	waitFor(t, "the host is asked again", func() bool { return m.asking() > 0 })
	m.ok("stop", "gpu:shop/demo")
	_ = waiting.Wait()
	if !strings.Contains(out(), "gpu:demo") || waiting.ProcessState.ExitCode() == 1 {
		t.Errorf("exit code %d\n%s", waiting.ProcessState.ExitCode(), out())
	}

	tip := m.git(m.repo, "rev-parse", "main")
	k.set(func() { k.hole = true })
	k.cut()
	if row, known := m.hostRow("gpu"); row == "" || !known {
		t.Errorf("black hole: the row is %q, states known: %t", row, known)
	}
	m.says(1, "gpu: not reached", "land", "gpu:demo")
	m.says(1, "gpu: not reached", "send", "gpu:demo", "do: write two.txt never")
	if got := m.git(m.repo, "rev-parse", "main"); got != tip {
		t.Errorf("main went to %s", got)
	}
	k.set(func() { k.hole = false })
	reached()
	m.ok("land", "gpu:demo")
	m.has("far.txt", "there\n")
}

// TestFiveHosts asks five hosts at once, of which one is frozen, one is cut off and one never
// answers: paw status lists the agents of the others, and for these three a row with a reason.
func TestFiveHosts(t *testing.T) {
	t.Parallel()
	m := newMachines(t, "/bin/sh")
	links := map[string]*link{}
	for _, name := range []string{"one", "two", "frozen", "off", "hole"} {
		links[name] = m.newLink(name + "-box")
		m.ok("host", "add", name, name+"-box")
	}
	m.patient(60, "one", "two")
	m.patient(1, "frozen", "off", "hole")
	m.ok("start", "--on", "one", "--cli", "demo")
	links["two"].set(func() { links["two"].delay = 50 * time.Millisecond })
	links["frozen"].set(func() { links["frozen"].frozen = true })
	links["off"].l.Close()
	links["off"].cut()
	links["hole"].set(func() { links["hole"].hole = true })
	links["hole"].cut()
	var view struct{ Hosts []hostJSON }
	waitFor(t, "one and two are reached, the others are not", func() bool {
		if err := json.Unmarshal([]byte(m.ok("status", "--json")), &view); err != nil || len(view.Hosts) != 5 {
			t.Fatalf("%v %+v", err, view)
		}
		for _, h := range view.Hosts {
			if h.Reached != (h.Name == "one" || h.Name == "two") || h.Reached == (h.Error != nil) {
				return false
			}
		}
		return true
	})
	for _, h := range view.Hosts {
		if h.Error != nil {
			t.Logf("%s: %s", h.Name, *h.Error)
		}
	}
}
