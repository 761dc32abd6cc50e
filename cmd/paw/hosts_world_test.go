package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// machines are this machine and a host, which is a second HOME behind a real sshd on loopback.
type machines struct {
	t    *testing.T
	root string
	repo string   // on this machine
	env  []string // on this machine
	there,
	repoThere string
	sshd *exec.Cmd
	conf string // configuration of ssh on this machine
	port int

	sshdPath string
}

// newMachines starts an sshd with its own keys. A login gets the variables of remoteEnvironment:
// the host has the same user account, so the options of the key set another HOME.
func newMachines(t *testing.T, shell string) *machines {
	t.Helper()
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("sshd is not installed")
	}
	root, err := scratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	m := &machines{t: t, root: root, there: filepath.Join(root, "there"), repo: filepath.Join(root, "here", "src", "shop"), conf: filepath.Join(root, "ssh_config")}
	m.repoThere = filepath.Join(m.there, "src", "shop")
	for _, dir := range []string{m.repo, m.there, filepath.Join(root, "run"), filepath.Join(root, "bin")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	here := filepath.Join(root, "here")
	bin := filepath.Join(root, "bin")
	m.link(pawForTests(), filepath.Join(bin, "paw"))
	m.write(filepath.Join(bin, "ssh"), "#!/bin/sh\nexec /usr/bin/ssh -F "+m.conf+" \"$@\"\n", 0o755)
	path := bin + ":" + os.Getenv("PATH")
	m.env = append(scriptEnvironment(here, filepath.Join(root, "run", "h")), "PATH="+path, "XDG_RUNTIME_DIR="+filepath.Join(root, "run"))
	t.Cleanup(func() { killServer(filepath.Join(root, "run", "h")); killServer(filepath.Join(root, "run", "t")) })
	m.git(m.repo, "init", "-q", "-b", "main")
	m.write(filepath.Join(m.repo, "README"), "shop\n", 0o644)
	m.git(m.repo, "add", ".")
	m.git(m.repo, "commit", "-qm", "first")
	m.git(m.repo, "clone", "-q", m.repo, m.repoThere)

	for _, key := range []string{"host", "user"} {
		m.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(root, key))
	}
	public, err := os.ReadFile(filepath.Join(root, "user.pub"))
	if err != nil {
		t.Fatal(err)
	}
	login := filepath.Join(root, "login")
	script := "#!/bin/sh\n"
	for _, kv := range scriptEnvironment(m.there, filepath.Join(root, "run", "t")) {
		name, value, _ := strings.Cut(kv, "=")
		script += fmt.Sprintf("export %s='%s'\n", name, value)
	}
	script += "export PATH='" + path + "'\nexport SHELL=" + shell + "\n[ -e '" + root + "/profile' ] && . '" + root + "/profile'\ncd \"$HOME\"\n"
	script += "echo 'Welcome to the other machine'\n" // a greeting, as login shells print one
	script += "if [ -n \"$SSH_ORIGINAL_COMMAND\" ]; then exec " + shell + " -c \"$SSH_ORIGINAL_COMMAND\"; fi\nexec " + shell + "\n"
	m.write(login, script, 0o755)
	m.write(filepath.Join(root, "authorized"), fmt.Sprintf("command=\"%s\" %s", login, public), 0o600)
	m.port = freePort(t)
	// sshd starts the login script through the user's own shell, which is to read none of the user's own files.
	m.write(filepath.Join(root, "sshd_config"), fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile %s\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\nSetEnv HOME=%s\nKexAlgorithms curve25519-sha256\nCiphers aes128-gcm@openssh.com\n",
		m.port, filepath.Join(root, "host"), filepath.Join(root, "authorized"), filepath.Join(root, "pid"), m.there), 0o600)
	m.write(m.conf, fmt.Sprintf("Host gpu-box\n  HostName 127.0.0.1\n  Port %d\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  StrictHostKeyChecking accept-new\n",
		m.port, filepath.Join(root, "user"), filepath.Join(root, "known")), 0o600)
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Skipf("sshd needs /run/sshd: %v", err)
	}
	m.sshdPath = sshd
	t.Cleanup(func() {
		m.freeze(false)
		_ = exec.Command(filepath.Join(bin, "ssh"), "-O", "exit", "gpu-box").Run()
		m.cut()
	})
	m.connect()
	return m
}

func (m *machines) link(from, to string) {
	m.t.Helper()
	if err := os.Symlink(from, to); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machines) write(path, text string, mode os.FileMode) {
	m.t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machines) run(program string, args ...string) {
	m.t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

func (m *machines) git(dir string, args ...string) string {
	m.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), m.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// paw runs paw on this machine.
func (m *machines) paw(args ...string) (stdout, stderr string, code int) {
	m.t.Helper()
	cmd := exec.Command(filepath.Join(m.root, "bin", "paw"), args...)
	cmd.Dir, cmd.Env = m.repo, append(os.Environ(), m.env...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

// ok runs paw, which has to succeed.
func (m *machines) ok(args ...string) string {
	m.t.Helper()
	out, complaints, code := m.paw(args...)
	if code != 0 {
		m.t.Fatalf("paw %v: exit code %d\n%s%s", args, code, out, complaints)
	}
	return out
}

// freePort returns a port on loopback that no program listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func listens(port int) bool {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// connect starts the host's sshd.
func (m *machines) connect() {
	m.t.Helper()
	m.sshd = exec.Command(m.sshdPath, "-D", "-e", "-f", filepath.Join(m.root, "sshd_config"))
	m.sshd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := m.sshd.Start(); err != nil {
		m.t.Fatal(err)
	}
	waitFor(m.t, "sshd listens", func() bool { return listens(m.port) })
}

// cut kills sshd and all its connections.
func (m *machines) cut() {
	for _, pid := range m.served() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = m.sshd.Wait()
}

// freeze stops sshd and all its connections, or continues them.
func (m *machines) freeze(stop bool) {
	sig := syscall.SIGCONT
	if stop {
		sig = syscall.SIGSTOP
	}
	for _, pid := range m.served() {
		_ = syscall.Kill(pid, sig)
	}
}

// served returns the pids of sshd and of the processes below it, at least one for each connection.
func (m *machines) served() (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || m.sshd == nil {
		return nil
	}
	parents := map[int]int{}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
		if comm := string(text); !strings.Contains(comm, "(sshd)") && pid != m.sshd.Process.Pid {
			delete(parents, pid)
		}
	}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at == m.sshd.Process.Pid {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
