package session

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Environ returns the environment that a process was started with, as KEY=value.
func Environ(pid int) ([]string, error) {
	data, err := environ(pid)
	if err != nil {
		return nil, err
	}
	var env []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(data), "\x00"), "\x00") {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		}
	}
	return env, nil
}

// environ reads /proc/PID/environ. It is empty for a moment while a process is
// in execve(2): the kernel sets the new program's environment last.
func environ(pid int) ([]byte, error) {
	for tries := 0; ; tries++ {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(data) > 0 || tries == 10 {
			return data, err
		}
		time.Sleep(time.Millisecond)
	}
}
