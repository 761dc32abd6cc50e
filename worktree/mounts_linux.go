package worktree

import (
	"strings"

	"paw/config/disk"
)

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
