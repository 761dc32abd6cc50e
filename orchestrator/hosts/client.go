// Package hosts reaches other machines that run paw, over the user's own OpenSSH. It runs public
// commands of the paw there and reads their JSON. There is no protocol, no port and no daemon.
//
// Package hosts knows no session and no agent of this machine. Begin with Client, then Request.
//
// One invariant: a failure of ssh is never taken for an answer of the host. An answer begins after
// a marker that only the paw on the host prints.
package hosts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"paw/config"
	"paw/config/display"
)

// Host is a host of the user's configuration, with its name.
type Host struct {
	Name string
	config.Host
}

// Wait returns how long a command waits for an answer of the host.
func (h Host) Wait() time.Duration {
	if h.Patience == 0 {
		return config.DefaultPatience * time.Second
	}
	return time.Duration(h.Patience) * time.Second
}

// Client runs ssh.
type Client struct {
	Path    string   // path of ssh
	Env     []string // environment of the user's shell
	Sockets string   // folder for the sockets of ssh masters, "" where no folder is safe
	State   string   // folder for the output of masters while they connect
}

// NotReached means that a host gave no answer. Nothing is known about the host then, and nothing
// may be concluded.
type NotReached struct {
	Host       string
	Why        string // reason, in ssh's words
	Connecting bool   // a connection is still being made
	Answered   bool   // the command had begun on the host when the connection was lost
	TooOld     string // destination of a host whose paw is too old to answer, else ""
}

func (e *NotReached) Error() string {
	switch {
	case e.Answered:
		return e.Host + ": the connection was lost while the command ran; what it has done is not known"
	case e.Connecting:
		return e.Host + ": connecting"
	case e.TooOld != "":
		return e.Host + ": " + e.Why
	}
	return e.Host + ": not reached: " + e.Why
}

// alone are the options of every call, in addition to the user's ssh configuration. Agents may have
// written the programs on a host, so nothing of this machine is forwarded.
var alone = []string{
	"-o", "BatchMode=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no",
	"-o", "RemoteCommand=none", "-o", "EscapeChar=none", "-o", "LogLevel=ERROR",
}

// connectTimeout bounds, in seconds, how long ssh tries to open a connection.
const connectTimeout = "3"

// Run runs a request on a host, over the host's ssh master if there is one, and returns the exit
// code of the remote command. Where ssh failed, the error is a *NotReached. Only output after the
// marker is written to stdout.
func (c Client) Run(ctx context.Context, h Host, r Request, stdin io.Reader, stdout, stderr io.Writer) (code int, err error) {
	return c.answer(ctx, h, c.command(ctx, h, append([]string{"-T"}, c.overMaster(h)...), r.line(h)), r, stdin, stdout, stderr)
}

// Dialog is Run with a terminal on the host, for its questions.
func (c Client) Dialog(ctx context.Context, h Host, r Request, stdin *os.File, stdout io.Writer) (code int, err error) {
	return c.answer(ctx, h, terminated(c.command(ctx, h, append([]string{"-t"}, c.overMaster(h)...), r.line(h))), r, stdin, stdout, nil)
}

// answer runs ssh for Run and Dialog.
func (c Client) answer(ctx context.Context, h Host, ssh *exec.Cmd, r Request, stdin io.Reader, stdout, stderr io.Writer) (code int, err error) {
	code, said, found, err := call(ctx, h, ssh, r.Marker, stdin, stdout, stderr)
	if err == nil && !found {
		err = noPaw(h, said)
	}
	return code, err
}

// call runs ssh, and returns the exit code of the remote command, what ssh or the host said beside the
// output, and whether the marker was found. Only output after the marker is written to stdout.
func call(ctx context.Context, h Host, ssh *exec.Cmd, marker string, stdin io.Reader, stdout, stderr io.Writer) (code int, said string, found bool, err error) {
	answer := &behindMarker{marker: marker, to: stdout}
	var complaints bytes.Buffer
	ssh.Stdin, ssh.Stdout, ssh.Stderr = stdin, answer, &limited{to: &complaints, left: longestComplaint}
	if stderr != nil {
		ssh.Stderr = io.MultiWriter(stderr, ssh.Stderr)
	}
	err = ssh.Run()
	said = cmp.Or(complaints.String(), string(answer.before))
	switch {
	case ctx.Err() != nil:
		return 0, said, answer.found, ctx.Err()
	case answer.failed != nil:
		return 0, said, answer.found, answer.failed
	}
	code, err = ended(h, err, answer.found, lastLine(complaints.String()))
	return code, said, answer.found, err
}

// Screen runs a request with a terminal on the host, over a connection of its own, so that a slow
// screen delays nothing else. The output is passed on unchanged.
func (c Client) Screen(ctx context.Context, h Host, r Request, stdin, stdout, stderr *os.File) (code int, err error) {
	r.Marker = ""
	cmd := terminated(c.command(ctx, h, []string{"-t", "-o", "ControlMaster=no", "-o", "ControlPath=none"}, r.line(h)))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	return ended(h, cmd.Run(), true, "ssh "+h.SSH+" failed")
}

// terminated lets ssh restore the terminal when its context is done.
func terminated(ssh *exec.Cmd) *exec.Cmd {
	ssh.Cancel = func() error { return ssh.Process.Signal(syscall.SIGTERM) }
	return ssh
}

// ended interprets how ssh ended.
func ended(h Host, err error, answered bool, why string) (code int, _ error) {
	exit, is := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, nil
	case !is:
		return 0, &NotReached{Host: h.Name, Why: err.Error()}
	case exit.ExitCode() == sshFailed || exit.ExitCode() < 0:
		return 0, &NotReached{Host: h.Name, Why: why, Answered: answered}
	}
	return exit.ExitCode(), nil
}

// sshFailed is the exit code of ssh for its own failures (ssh(1), EXIT STATUS).
const sshFailed = 255

// command returns the call of ssh: options, destination, and one line for the host's login shell. ssh
// uses the first value that it is given for an option (ssh_config(5)), so options override alone.
func (c Client) command(ctx context.Context, h Host, options []string, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, slices.Concat(options, alone, []string{"--", h.SSH, line})...)
	cmd.Env = c.Env
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error {
		cmd.WaitDelay = time.Millisecond // the master keeps its killed client's output open
		return cmd.Process.Kill()
	}
	return cmd
}

// line returns the line for a host's login shell: a path and two plain words.
func (r Request) line(h Host) string { return programOf(h) + " __on " + r.Word() }

// programOf returns the paw to run on a host, as written for its login shell.
func programOf(h Host) string {
	if h.Paw == "" {
		return "paw"
	}
	return h.Paw
}

// overMaster returns the options with which a call uses the host's master but never becomes one.
func (c Client) overMaster(h Host) []string {
	if socket := c.socket(h); socket != "" {
		return []string{"-o", "ControlMaster=no", "-o", "ControlPath=" + socket, "-o", "ConnectTimeout=" + connectTimeout}
	}
	return []string{"-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ConnectTimeout=" + connectTimeout}
}

// longestSocket limits the path of a master's socket in bytes: ssh first uses a name that is 17
// characters longer, and a socket address on macOS has room for 103.
const longestSocket = 86

// socket returns the path of the socket of a host's master, "" where no path is safe and short
// enough.
func (c Client) socket(h Host) string {
	if c.Sockets == "" {
		return ""
	}
	path := filepath.Join(c.Sockets, digest(c.State+"\x00"+h.Name+"\x00"+h.SSH+"\x00"+c.where(h)))
	if len(path) > longestSocket {
		return ""
	}
	return path
}

// resolved has what ssh said of a destination, by client and host: a process asks once.
var resolved sync.Map

// where returns all that decides where ssh goes for a host, and how (ssh -G): a connection that was
// made with another configuration may lead to another machine. It is "" if ssh does not say.
func (c Client) where(h Host) string {
	key := c.Path + "\x00" + c.State + "\x00" + h.SSH
	if known, there := resolved.Load(key); there {
		return known.(string)
	}
	ctx, cancel := context.WithTimeout(context.Background(), masterPatience)
	defer cancel()
	ssh := exec.CommandContext(ctx, c.Path, "-G", "--", h.SSH)
	ssh.Env, ssh.WaitDelay = c.Env, masterPatience
	said, err := ssh.Output()
	if err != nil {
		said = nil
	}
	resolved.Store(key, string(said))
	return string(said)
}

// digest returns a short name for a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// longestComplaint is how many bytes of standard error are kept from ssh and login shells.
const longestComplaint = 64 << 10

// limited writes the first left bytes and drops the rest.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(text []byte) (int, error) {
	part := text[:min(len(text), l.left)]
	l.left -= len(part)
	if _, err := l.to.Write(part); err != nil {
		return 0, err
	}
	return len(text), nil
}

// lastLine returns the last line of ssh's output, safe for a terminal.
func lastLine(said string) string {
	if last := display.Words(display.LastLine(said)); last != "" {
		return display.Graphemes.Cut(last, 300)
	}
	return "ssh says nothing"
}

// noPaw returns the error for a host that ssh reached, but whose paw did not answer.
func noPaw(h Host, said string) *NotReached {
	if strings.Contains(said, "paw: error: __on: no such command") {
		return &NotReached{Host: h.Name, TooOld: h.SSH, Why: "the paw there, " + display.OneLine(programOf(h)) + ", is too old to answer another machine"}
	}
	return &NotReached{Host: h.Name, Why: fmt.Sprintf("no paw answers there (%s)", lastLine(said))}
}
