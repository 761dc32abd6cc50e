package worktree

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"paw/config/disk"
)

// copyFlags make cp copy folders, with modes, times and links.
var copyFlags = []string{"-a", "--reflink=auto"}

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
