package tmux

import (
	"fmt"
	"strconv"
	"strings"
)

// Server is a running tmux server. Pane ids start again from %0 in the next one, which has another process.
type Server struct {
	PID     int
	Started int64  // #{start_time}, Unix seconds
	Socket  string // absolute path
	// Sessions maps the id of every tmux session to its @paw_session, "" for sessions that are not paw's.
	Sessions map[string]string
}

// serverFormat is what parseServer reads.
const serverFormat = "#{pid} #{start_time} #{socket_path}"

// parseServer reads a server's fields, the socket up to the end of the line.
func parseServer(text string) (Server, error) {
	line, _, _ := strings.Cut(text, "\n")
	if fields := strings.SplitN(line, " ", 3); len(fields) == 3 {
		pid, pidErr := strconv.Atoi(fields[0])
		started, err := strconv.ParseInt(fields[1], 10, 64)
		if pidErr == nil && err == nil {
			return Server{PID: pid, Started: started, Socket: fields[2]}, nil
		}
	}
	return Server{}, fmt.Errorf("tmux: server described as %q", line)
}
