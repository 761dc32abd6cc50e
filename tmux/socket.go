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

// endpoint names a tmux server. process makes every connection from one, after check has passed.
type endpoint struct {
	path string // absolute path of the socket
	name string // name for tmux -L; "" for a socket outside a folder of tmux
	base string // TMUX_TMPDIR under which name leads to path; "" for the user's TMUX_TMPDIR
}

// flags returns the flags of the tmux program that name the server. With -L tmux makes and checks
// the socket's folder itself, with -S it does neither.
func (e endpoint) flags() []string {
	if e.name != "" {
		return []string{"-L", e.name}
	}
	return []string{"-S", e.path}
}

// Words returns the first words of a shell command that runs tmux on this client's server.
func (c *Client) Words() ([]string, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	if e.base != "" { // A running server is also reached by its socket, without TMUX_TMPDIR.
		e.name = ""
	}
	return append([]string{"tmux"}, e.flags()...), nil
}

// endpoint decides which server the client means. endpoint returns an error for a socket that
// another user could have put there. The server in $TMUX is ignored when it does not answer or
// belongs to another user.
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

// endpointOf parses the setting tmux.socket, or the socket in a record: "" is the default server, a
// word a name for tmux -L, anything else must be an absolute path.
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

// endpointAt returns the server of a socket. For a path DIR/tmux-UID/NAME the server is reached by
// `tmux -L NAME` with TMUX_TMPDIR=DIR.
func endpointAt(path string) endpoint {
	folder, name := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(folder) != userFolder() {
		return endpoint{path: path}
	}
	base, err := filepath.EvalSymlinks(filepath.Dir(folder))
	if err != nil { // tmux itself would fall back to /tmp
		return endpoint{path: path}
	}
	e := endpoint{path: filepath.Join(base, userFolder(), name), name: name}
	if namedSocket(name) != e.path {
		e.base = base
	}
	return e
}

// SocketPath returns the absolute path of the client's socket, whether or not a server listens
// there.
func (c *Client) SocketPath() (string, error) {
	e, err := c.endpoint()
	return e.path, err
}

// insideSocket returns the socket in $TMUX, "" outside tmux.
func insideSocket() string {
	path, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// userFolder returns the name of the folder in which tmux keeps the sockets of this user.
func userFolder() string { return "tmux-" + strconv.Itoa(os.Getuid()) }

// namedSocket returns the socket path of `tmux -L name`: tmux-UID/NAME below $TMUX_TMPDIR or, where
// that does not exist, below /tmp.
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

// listening reports whether a server accepts connections on the socket. A full queue of connections
// counts too: a server has to be there.
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

// belowTemp reports whether dir is inside the temporary directory. The result is false for the
// temporary directory itself, where the default server usually has its socket.
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

// UnsafeError says that another user could have put a tmux socket, or its folder, where it is, or
// that a file that is no socket is there. A server of another user could read the user's
// environment and type into the user's agents, and tmux deletes a file where it wants to put a
// socket, so paw does not connect.
type UnsafeError struct {
	Socket string
	Path   string // the folder or the socket that other users can change
	Mine   bool   // the user owns Path, and its mode lets others in
	Named  bool   // tmux -L reaches Socket by a name
	what   string
}

func (e *UnsafeError) Error() string {
	if e.Path == e.Socket {
		return fmt.Sprintf("tmux socket %s: %s", e.Socket, e.what)
	}
	return fmt.Sprintf("tmux socket %s: %s %s", e.Socket, e.Path, e.what)
}

// Reachable reports whether a server can be started or reached at a socket, given by its absolute
// path: the folder exists or tmux makes it, and no other user could have put the socket there.
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
	othersDo    = 0o007 // every permission of other users
	othersWrite = 0o002
)

// check returns an error for a socket that another user could have put there, and for a file that
// is no socket. A tmux-UID folder must belong to the user and be closed to others, as tmux itself
// demands. Any other folder must belong to the user or root, and others may not write to it, unless
// it is sticky like /tmp.
func (e endpoint) check() error {
	folder := filepath.Dir(e.path)
	if e.name != "" {
		info, err := os.Lstat(folder)
		if err := e.refuse(folder, info, err, othersDo, os.Getuid()); err != nil {
			return err
		}
		info, err = os.Stat(e.path)
		return e.refuse(e.path, info, err, 0, os.Getuid())
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

// refuse returns an UnsafeError when a folder or socket belongs to none of the owners, or its mode
// allows others something forbidden. A missing one is safe.
func (e endpoint) refuse(path string, info os.FileInfo, err error, forbidden os.FileMode, owners ...int) error {
	unsafe := &UnsafeError{Socket: e.path, Path: path, Named: e.name != ""}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("tmux socket %s: %w", e.path, err)
	case path != e.path && !info.IsDir():
		unsafe.what = "is not a folder"
	case path == e.path && info.Mode()&(fs.ModeSocket|fs.ModeSymlink) == 0:
		unsafe.what = "is not a socket"
	case !slices.Contains(owners, owner(info)):
		unsafe.what = fmt.Sprintf("belongs to user %d", owner(info))
	case info.Mode()&forbidden != 0:
		unsafe.Mine, unsafe.what = true, fmt.Sprintf("is open to other users (mode %04o)", info.Mode().Perm())
	default:
		return nil
	}
	return unsafe
}

// owner returns the user id of a file's owner, -1 if unknown.
func owner(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
