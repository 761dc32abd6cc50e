package session

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Listeners returns the PIDs of this user's processes that listen on TCP ports from first to last,
// by port.
func Listeners(first, last int) map[int]int {
	sockets := map[string]int{} // target of a /proc/PID/fd link -> port
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text()) // proc(5): number, local address:port, remote, state, ..., inode
			if len(fields) < 10 || fields[3] != "0A" {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			if port, err := strconv.ParseInt(hex, 16, 32); err == nil && int(port) >= first && int(port) <= last {
				sockets["socket:["+fields[9]+"]"] = int(port)
			}
		}
		file.Close()
	}
	found := map[int]int{}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	for _, fd := range descriptors {
		target, err := os.Readlink(fd)
		port, listens := sockets[target]
		if err != nil || !listens || found[port] != 0 {
			continue
		}
		found[port], _ = strconv.Atoi(strings.Split(fd, "/")[2])
	}
	return found
}
