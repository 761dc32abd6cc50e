// Package tmux is the only package that runs tmux.
//
// It knows panes, tmux sessions and the options paw puts on them, and nothing else of paw: no files, no git, no CLIs.
// After the call that creates something, every command names its target by an id (%1, @2, $3). Ids survive what a
// user's tmux.conf does to names and indexes; names do not. Nothing global or server-wide is ever changed.
//
// tmux 3.2 is the oldest version this package is written for. Two limits come from tmux itself: with the server option
// exit-unattached a server without an attached client ends, and paw's session with it; and exit signals are reported
// from tmux 3.3 on only.
package tmux

import "time"

// Client talks to one tmux server. Its zero value is the user's own server.
type Client struct {
	// Socket says which server: "" is the user's own (the one $TMUX names when that answers, else the default one), a
	// word is a socket name as for tmux -L, an absolute path is a socket as for tmux -S.
	Socket string
	// ConfigFile is read instead of the user's configuration by a server that this client starts (tmux -f).
	ConfigFile string
	// Timeout bounds one call of tmux; 0 is five seconds. A call that takes longer ends with ErrTimeout, which says
	// nothing about whether the server lives.
	Timeout time.Duration
	// WithLabels has Panes also tell what stands on the borders.
	WithLabels bool
}

// New returns the client of the server that socket names; see Client.Socket.
func New(socket string) *Client {
	return &Client{Socket: socket}
}

const (
	defaultTimeout = 5 * time.Second
	// waitDelay is how long a killed client's output is still waited for: a stopped server keeps the pipe open for
	// ever, since clients pass it their file descriptors.
	waitDelay = 500 * time.Millisecond
)

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return defaultTimeout
}
