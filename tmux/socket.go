package tmux

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endpoint is a server as the tmux program is told to find it, and the socket it comes to.
type endpoint struct {
	flags []string
	path  string
}

// endpoint decides which server is meant. A stale or garbage $TMUX means the default server; so does a $TMUX whose
// server has gone.
func (c *Client) endpoint() (endpoint, error) {
	switch {
	case c.Socket == "":
		if own := insideSocket(); own != "" && listening(own) {
			return endpoint{[]string{"-S", own}, own}, nil
		}
		return endpoint{[]string{"-L", "default"}, namedSocket("default")}, nil
	case filepath.IsAbs(c.Socket):
		return endpoint{[]string{"-S", c.Socket}, c.Socket}, nil
	case strings.ContainsRune(c.Socket, '/'):
		return endpoint{}, fmt.Errorf("tmux socket %q: neither a name nor an absolute path", c.Socket)
	default:
		return endpoint{[]string{"-L", c.Socket}, namedSocket(c.Socket)}, nil
	}
}

// SocketPath returns the absolute path of the socket this client uses, whether or not a server listens there.
func (c *Client) SocketPath() (string, error) {
	e, err := c.endpoint()
	return e.path, err
}

// insideSocket is the socket in $TMUX, "" outside tmux.
func insideSocket() string {
	path, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// namedSocket follows tmux: the directory tmux-UID below $TMUX_TMPDIR, or below /tmp when that does not exist.
func namedSocket(name string) string {
	user := "tmux-" + strconv.Itoa(os.Getuid())
	for _, base := range []string{os.Getenv("TMUX_TMPDIR"), "/tmp"} {
		if base == "" {
			continue
		}
		if dir, err := filepath.EvalSymlinks(absolute(base)); err == nil {
			return filepath.Join(dir, user, name)
		}
	}
	return filepath.Join("/tmp", user, name)
}

// listening connects and hangs up. Only a refusal counts as nobody: a full queue means that a server is there.
func listening(path string) bool {
	conn, err := net.DialTimeout("unix", path, time.Second) //nolint:noctx // a local socket answers at once or not at all
	if err == nil {
		_ = conn.Close()
		return true
	}
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, os.ErrDeadlineExceeded)
}

// guard panics when a test would reach the tmux server of the person who runs the tests.
func (c *Client) guard(e endpoint) {
	if !testing.Testing() {
		return
	}
	if c.Socket == "" && !belowTemp(os.Getenv("TMUX_TMPDIR")) {
		panic("tmux: a test may use the user's own server only with TMUX_TMPDIR below the system's temporary directory")
	}
	own := filepath.Join("tmux-"+strconv.Itoa(os.Getuid()), "default")
	for _, base := range []string{"/tmp", os.TempDir()} {
		if dir, err := filepath.EvalSymlinks(base); err == nil {
			base = dir
		}
		if e.path == filepath.Join(base, own) {
			panic("tmux: a test would reach the default server at " + e.path)
		}
	}
}

// belowTemp is false for the temporary directory itself: that is where the default server's socket usually lies.
func belowTemp(dir string) bool {
	if dir == "" {
		return false
	}
	dir, err := filepath.EvalSymlinks(absolute(dir))
	if err != nil {
		return false
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(temp, dir)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../")
}
