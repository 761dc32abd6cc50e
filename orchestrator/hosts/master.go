package hosts

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/poll"
)

// SocketsIn returns the folder for sockets of ssh masters, which it makes if it is missing: below
// the user's runtime folder, or below /tmp without one. It returns "" for a folder that is a
// symlink or writable by others: whoever controls a master's socket gets what is written to the
// host.
func SocketsIn(runtime string) string {
	dir := filepath.Join(runtime, "paw")
	if info, err := os.Stat(runtime); err != nil || !info.IsDir() {
		dir = filepath.Join("/tmp", "paw-"+strconv.Itoa(os.Getuid()))
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return ""
	}
	var info unix.Stat_t
	if unix.Lstat(dir, &info) != nil || info.Mode&unix.S_IFMT != unix.S_IFDIR || int(info.Uid) != os.Geteuid() || info.Mode&0o077 != 0 {
		return ""
	}
	return dir
}

const (
	// masterPatience limits a call of a master on this machine.
	masterPatience = time.Second
	// reachPatience limits the wait for a connection whose caller sets no limit.
	reachPatience = time.Hour
)

// Reach waits until an ssh master to the host is connected, and starts one if there is none. The
// connecting process outlives the caller, so that a later command can reach a slow host. The error
// is a *NotReached, with Connecting if that process still works when ctx is done.
func (c Client) Reach(ctx context.Context, h Host) error {
	socket := c.socket(h)
	if socket == "" || standing(socket) {
		return nil
	}
	if err := c.connect(h, socket); err != nil {
		return &NotReached{Host: h.Name, Why: err.Error()}
	}
	reached := false
	poll.Until(ctx, poll.Tick, reachPatience, func() bool {
		reached = standing(socket)
		return reached || !c.connecting(h)
	})
	switch {
	case reached || standing(socket):
		return nil
	case c.connecting(h):
		return &NotReached{Host: h.Name, Connecting: true}
	}
	return &NotReached{Host: h.Name, Why: c.complaint(h)}
}

// connect starts ssh as the master of a host, unless another process is connecting. A lock on ssh's
// log file, which is its standard error, tells that a process is connecting: ssh closes all other
// inherited files (closefrom(2)), and the lock ends when ssh goes into the background or fails.
func (c Client) connect(h Host, socket string) error {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(c.log(h), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the lock is then held by ssh alone
	if err := unix.Flock(int(log.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		return err
	}
	if err := log.Truncate(0); err != nil {
		return err
	}
	_ = os.Remove(socket) // no master listens on the socket
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	args := append(append([]string{}, alone...), "-M", "-N", "-T", "-o", "ControlMaster=yes", "-o", "ControlPath="+socket, "-o", "ControlPersist=10m",
		"-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "-o", "ConnectTimeout="+connectTimeout, "--", h.SSH)
	cmd := exec.CommandContext(context.Background(), c.Path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, null, null, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // leaves no zombie while paw lives
	return nil
}

// Drop gives up the master of a host that did not answer in time: existing connections end with
// their clients, and new ones do not use this master.
func (c Client) Drop(h Host) {
	socket := c.socket(h)
	if socket == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), masterPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Path, "-O", "stop", "-o", "ControlPath="+socket, "--", h.SSH)
	cmd.Env = c.Env
	_ = cmd.Run()
	_ = os.Remove(socket)
}

// standing reports whether a master listens on a socket.
func standing(socket string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), masterPatience)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	connection.Close()
	return true
}

// connecting reports whether a process is connecting to a host.
func (c Client) connecting(h Host) bool {
	log, err := os.OpenFile(c.log(h), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer log.Close()
	return errors.Is(unix.Flock(int(log.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// complaint returns why the last connection to a host failed.
func (c Client) complaint(h Host) string {
	said, err := os.ReadFile(c.log(h))
	if err != nil {
		return err.Error()
	}
	return lastLine(string(said[:min(len(said), longestComplaint)]))
}

// log returns the file with ssh's output while it connects to a host.
func (c Client) log(h Host) string { return filepath.Join(c.State, h.Name+".connect") }
