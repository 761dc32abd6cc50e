package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"paw/config/disk"
)

// create makes a new file in the worktree, which shares the blocks of from if the file system can.
func (p *pair) create(from *os.File, name string, info fs.FileInfo) (to *os.File, shared bool, err error) {
	to, err = p.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil || info.Size() == 0 || p.alone.Load() {
		return to, false, err
	}
	switch err := unix.IoctlFileClone(int(to.Fd()), int(from.Fd())); {
	case err == nil:
		return to, true, nil
	case errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.ENOSYS):
		p.alone.Store(true)
	}
	return to, false, nil
}

// sharesBlocks reports, by trying, whether a copy of a file into a folder shares its blocks.
func sharesBlocks(file, folder string) bool {
	from, err := os.Open(file)
	if err != nil {
		return false
	}
	defer from.Close()
	to, err := os.CreateTemp(folder, ".paw-*")
	if err != nil {
		return false
	}
	defer to.Close()
	_ = os.Remove(to.Name())
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil
}

// processesWith returns the living processes, except paw itself, whose environment has this entry.
func processesWith(entry string) []int {
	var found []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, err := strconv.Atoi(strings.Split(file, "/")[2])
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(file) // The environment of a zombie is empty.
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+entry+"\x00")) {
			found = append(found, pid)
		}
	}
	return found
}

// mountPoints lists where file systems are mounted, as this process sees them.
func mountPoints() ([]string, error) {
	table, err := disk.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var points []string
	for line := range strings.Lines(string(table)) {
		// ID, parent, major:minor, root, mount point, ...; blanks and backslashes are octal.
		if fields := strings.Fields(line); len(fields) > 4 {
			points = append(points, unescapeMount.Replace(fields[4]))
		}
	}
	return points, nil
}

var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
