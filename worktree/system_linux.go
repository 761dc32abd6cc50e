package worktree

import (
	"errors"
	"io/fs"
	"os"
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
