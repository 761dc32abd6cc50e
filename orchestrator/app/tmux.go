package app

import (
	"paw/session"
	"paw/tmux"
)

// TmuxFor returns the client for the server of a session: that of the recorded socket as long as a server can be there. Where it
// cannot, because the folder of the socket has gone with a reboot or a logout and the server with it, the session goes on where
// new ones are started.
func (h *App) TmuxFor(s *session.Session) *tmux.Client {
	if s != nil && s.Tmux.Socket != "" && (tmux.Reachable(s.Tmux.Socket) || ServerLives(s)) {
		return tmux.New(s.Tmux.Socket)
	}
	return tmux.New(h.Config.Tmux.Socket)
}

// ServerLives reports whether the recorded server still runs, whatever its socket says: cleaners of /tmp delete sockets
// (anthropics/claude-code#54694).
func ServerLives(s *session.Session) bool {
	server := s.Tmux.Server()
	return tmux.IsServer(server.PID) && (server.BootID == "" || server.Alive())
}

// OnItsServer reports whether the server that answered is the one in the record of a session.
func OnItsServer(s *session.Session, answered tmux.Server) bool {
	server := s.Tmux.Server()
	if answered.PID == 0 || answered.PID != server.PID {
		return false
	}
	if server.BootID == "" { // tmux has both times from the same clock, once and for all
		return answered.Started == s.Tmux.ServerStarted
	}
	return server.Alive()
}
