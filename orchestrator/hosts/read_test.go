package hosts

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config"
)

// TestFakeSSH is no test: it stands for ssh. A master takes its time to connect and then listens at its socket, a command over it never
// answers, and the end of a master is written down.
func TestFakeSSH(t *testing.T) {
	folder := os.Getenv("PAW_FAKE_SSH")
	if folder == "" {
		t.Skip("stands for ssh in other tests")
	}
	args := os.Args[slices.Index(os.Args, "--")+1:]
	var socket string
	for _, arg := range args {
		if path, is := strings.CutPrefix(arg, "ControlPath="); is {
			socket = path
		}
	}
	switch {
	case slices.Contains(args, "-M"):
		<-time.After(300 * time.Millisecond)
		if _, err := net.Listen("unix", socket); err != nil {
			os.Exit(255)
		}
	case slices.Contains(args, "-O"):
		if err := os.WriteFile(filepath.Join(folder, "ended"), nil, 0o600); err != nil {
			os.Exit(255)
		}
		os.Exit(0)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if _, err := os.Stat(folder); err != nil {
			break // the test is over
		}
		<-time.After(50 * time.Millisecond)
	}
	os.Exit(255)
}

// TestReadThatConnectingLeftNoTimeFor: a host whose connection took most of the patience keeps it, so that the next command reaches the host.
// A host that is silent over a connection that stood before loses it.
func TestReadThatConnectingLeftNoTimeFor(t *testing.T) {
	folder, err := os.MkdirTemp("", "ph")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	script := filepath.Join(folder, "ssh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec '"+os.Args[0]+"' -test.run='^TestFakeSSH$' -- \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Client{Path: script, Env: append(os.Environ(), "PAW_FAKE_SSH="+folder), Sockets: folder, State: folder}
	h := Host{Name: "gpu", Host: config.Host{SSH: "gpu-box", Patience: 1}}
	ended := func() bool {
		_, err := os.Stat(filepath.Join(folder, "ended"))
		return err == nil
	}
	connecting := 0
	for {
		_, err := c.Read(t.Context(), h, "", "status", "--json")
		var lost *NotReached
		if !errors.As(err, &lost) {
			t.Fatal(err)
		}
		if !lost.Connecting {
			break
		}
		if connecting++; ended() {
			t.Fatal("a connection that had just been made was given up")
		}
	}
	if connecting == 0 || !ended() {
		t.Errorf("connecting: %d times; the silent connection was given up: %t", connecting, ended())
	}
}

// TestHostsAreAskedAtTheSameTime has hosts that answer only once all of them were asked: nobody waits for another, and each costs one process.
func TestHostsAreAskedAtTheSameTime(t *testing.T) {
	const many = 5
	c, h := played(t, `echo asked >> "$0.asked"; until [ "$(wc -l < "$0.asked")" -ge 5 ]; do sleep 0.01; done; echo "$marker"; echo '{}'`)
	h.Patience = 60
	places := make([]Place, many)
	for i := range places {
		places[i] = Place{Host: Host{Name: string(rune('a' + i)), Host: h.Host}, Dir: "src"}
	}
	for _, answer := range c.Statuses(t.Context(), places, time.Now) {
		if answer.Err != nil {
			t.Errorf("%s: %v", answer.Host, answer.Err)
		}
	}
	if asked, err := os.ReadFile(c.Path + ".asked"); strings.Count(string(asked), "\n") != many {
		t.Errorf("%d processes of ssh were started, %v", strings.Count(string(asked), "\n"), err)
	}
}
