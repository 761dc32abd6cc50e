package tmux

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endpoint is the one way to a tmux server: every connection is made by what it says, after check has passed.
type endpoint struct {
	path string // of the socket
	name string // as for tmux -L, "" for a socket that no name leads to
	base string // value of TMUX_TMPDIR with which name leads to path, "" for that of the user
}

// flags tell the tmux program which server is meant. With -L tmux makes and checks the folder of the socket itself, with -S it
// does neither.
func (e endpoint) flags() []string {
	if e.name != "" {
		return []string{"-L", e.name}
	}
	return []string{"-S", e.path}
}

// Words are how a shell begins a tmux command for the server of this client.
func (c *Client) Words() ([]string, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	if e.base != "" { // a server that runs is reached by its socket, too
		e.name = ""
	}
	return append([]string{"tmux"}, e.flags()...), nil
}

// endpoint decides which server is meant, and refuses one that another user could have put there. A stale or garbage $TMUX
// means the default server; so does a $TMUX whose server has gone or is another user's.
func (c *Client) endpoint() (endpoint, error) {
	if c.Socket == "" {
		if own := endpointAt(insideSocket()); own.path != "" && own.check() == nil && listening(own.path) {
			return own, nil
		}
	}
	e, err := endpointOf(c.Socket)
	if err != nil {
		return e, err
	}
	return e, e.check()
}

// endpointOf understands the setting tmux.socket and the socket of a record: "" is the default server, a word a name as for
// tmux -L, and anything else an absolute path.
func endpointOf(socket string) (endpoint, error) {
	switch {
	case socket == "":
		return endpoint{path: namedSocket("default"), name: "default"}, nil
	case filepath.IsAbs(socket):
		return endpointAt(socket), nil
	case strings.ContainsRune(socket, '/'):
		return endpoint{}, fmt.Errorf("tmux socket %q: neither a name nor an absolute path", socket)
	}
	return endpoint{path: namedSocket(socket), name: socket}, nil
}

// endpointAt is the server with that socket, by name where the path is DIR/tmux-UID/NAME: the place of -L NAME with DIR as
// TMUX_TMPDIR.
func endpointAt(path string) endpoint {
	folder, name := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(folder) != userFolder() {
		return endpoint{path: path}
	}
	base, err := filepath.EvalSymlinks(filepath.Dir(folder))
	if err != nil { // tmux would take /tmp instead
		return endpoint{path: path}
	}
	e := endpoint{path: filepath.Join(base, userFolder(), name), name: name}
	if namedSocket(name) != e.path {
		e.base = base
	}
	return e
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

// userFolder is the name of the folder that tmux makes for the sockets of this user.
func userFolder() string { return "tmux-" + strconv.Itoa(os.Getuid()) }

// namedSocket follows tmux: the directory tmux-UID below $TMUX_TMPDIR, or below /tmp when that does not exist.
func namedSocket(name string) string {
	user := userFolder()
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
	own := filepath.Join(userFolder(), "default")
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

// UnsafeError says that another user could have put the socket of a tmux server where it is, or its folder. A server that
// answers there would read the user's environment and type into the user's agents, so nothing connects to it.
type UnsafeError struct {
	Socket string
	Path   string // the folder or the socket that is not the user's alone
	Mine   bool   // Path belongs to the user, and its mode lets others in
	Named  bool   // the socket is one as for tmux -L
	what   string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("tmux socket %s: %s %s", e.Socket, e.Path, e.what)
}

// Reachable reports whether a server may be started or found at that socket, which is an absolute path: the folder is there, or
// tmux makes it, and no other user could have put the socket there.
func Reachable(socket string) bool {
	e := endpointAt(socket)
	if e.name == "" {
		if _, err := os.Stat(filepath.Dir(e.path)); err != nil {
			return false
		}
	}
	return e.check() == nil
}

const (
	othersDo    = 0o007 // what others may do at all
	othersWrite = 0o002
)

// check refuses a socket that another user could have put there. The folder of a name is the user's alone, as tmux itself wants
// it. Any other folder is the user's or root's, and others can change nothing in it; or, as in /tmp, nothing that is not theirs.
func (e endpoint) check() error {
	folder := filepath.Dir(e.path)
	if e.name != "" {
		info, err := os.Lstat(folder)
		return e.refuse(folder, info, err, othersDo, os.Getuid())
	}
	info, err := os.Stat(folder)
	forbidden := os.FileMode(othersWrite)
	if err == nil && info.Mode()&os.ModeSticky != 0 {
		forbidden = 0
	}
	if err := e.refuse(folder, info, err, forbidden, os.Getuid(), 0); err != nil {
		return err
	}
	if info, err := os.Lstat(e.path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := e.refuse(e.path, info, nil, 0, os.Getuid()); err != nil {
			return err
		}
	}
	info, err = os.Stat(e.path)
	return e.refuse(e.path, info, err, othersWrite, os.Getuid())
}

// refuse says why a folder or a socket is not safe: it belongs to none of the owners, or others may do something that is
// forbidden. What is not there is safe.
func (e endpoint) refuse(path string, info os.FileInfo, err error, forbidden os.FileMode, owners ...int) error {
	unsafe := &UnsafeError{Socket: e.path, Path: path, Named: e.name != ""}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("tmux socket %s: %w", e.path, err)
	case path != e.path && !info.IsDir():
		unsafe.what = "is not a folder"
	case !slices.Contains(owners, owner(info)):
		unsafe.what = fmt.Sprintf("belongs to user %d", owner(info))
	case info.Mode()&forbidden != 0:
		unsafe.Mine, unsafe.what = true, fmt.Sprintf("is open to other users (mode %04o)", info.Mode().Perm())
	default:
		return nil
	}
	return unsafe
}

// owner is the number of the user that a file belongs to, -1 when that is not known.
func owner(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
