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

// SocketsIn returns the folder for the sockets of masters: below the user's runtime folder, below /tmp where there is no such folder. A
// missing folder is made. A folder that is a link, or that anybody else can write, is refused with "": whoever holds the socket of a
// master gets what is written to the host.
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

// Reach waits until a master to the host stands, and begins to make one where there is none. The process that connects outlives
// the caller: a host that is far away is reached by one of the next commands. The error is a *NotReached, with Connecting as long
// as that process is at work when ctx is done.
func (c Client) Reach(ctx context.Context, h Host) error {
	socket := c.socket(h)
	if socket == "" || standing(socket) {
		return nil
	}
	if err := c.connect(h, socket); err != nil {
		return &NotReached{Host: h.Name, Why: err.Error()}
	}
	reached := false
	poll.Until(ctx, poll.Tick, time.Hour, func() bool {
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

// connect starts ssh as the master of a host, unless a process is about to connect already. ssh closes what it inherits but for the standard files (closefrom(2)), so its standard
// error is the file that says whether one connects: the lock on that file ends when ssh has got through and goes into the
// background, or fails.
func (c Client) connect(h Host, socket string) error {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(c.log(h), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // from then on the lock is that of ssh alone
	if err := unix.Flock(int(log.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		return err
	}
	if err := log.Truncate(0); err != nil {
		return err
	}
	_ = os.Remove(socket) // no master stands behind it
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
	go cmd.Wait() // where paw lives on, it leaves no zombie
	return nil
}

// Drop gives up the master of a host that did not answer in time: connections that stand are ended by their own clients, no new
// one begins over this master.
func (c Client) Drop(h Host) {
	socket := c.socket(h)
	if socket == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Path, "-O", "stop", "-o", "ControlPath="+socket, "--", h.SSH)
	cmd.Env = c.Env
	_ = cmd.Run()
	_ = os.Remove(socket)
}

// standing reports whether a master listens at a socket.
func standing(socket string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	connection.Close()
	return true
}

// connecting reports whether a process is about to open a connection to a host.
func (c Client) connecting(h Host) bool {
	log, err := os.OpenFile(c.log(h), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer log.Close()
	return errors.Is(unix.Flock(int(log.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// complaint is why the last connection to a host could not be made.
func (c Client) complaint(h Host) string {
	said, err := os.ReadFile(c.log(h))
	if err != nil {
		return err.Error()
	}
	return lastLine(string(said[:min(len(said), longestComplaint)]))
}

// log is the file that has what ssh says while it connects to a host.
func (c Client) log(h Host) string { return filepath.Join(c.State, h.Name+".connect") }
