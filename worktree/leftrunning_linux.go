package worktree

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processesWith are the living processes that were started with an entry of the environment, but for this one.
func processesWith(entry string) []int {
	var found []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, err := strconv.Atoi(strings.Split(file, "/")[2])
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(file) // empty for one that has ended and that nobody has waited for
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+entry+"\x00")) {
			found = append(found, pid)
		}
	}
	return found
}
