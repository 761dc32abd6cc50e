package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"paw/config/disk"
)

// ErrHostByHand says that a host is written in the user's file in a form that paw does not edit,
// such as an inline table.
var ErrHostByHand = errors.New("is written in the file in a form that paw does not edit")

// SaveHost writes a host into the user's file, and leaves every other byte unchanged. For a host
// that is in the file already, destination and program are replaced, and checkouts added. The error
// is ErrHostByHand when the host is written in a form that paw does not edit.
func (p Paths) SaveHost(name string, h Host) error {
	return p.edit(func(text string) string { return withHost(text, name, h) })
}

// DeleteHost removes a host from the user's file.
func (p Paths) DeleteHost(name string) error {
	return p.edit(func(text string) string { return withoutHost(text, name) })
}

// edit changes the user's file under a lock, and returns ErrHostByHand for a result that is no
// valid configuration.
func (p Paths) edit(change func(string) string) error {
	if err := os.MkdirAll(p.StateDir, 0o700); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(p.StateDir + "/config.lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	content, err := os.ReadFile(p.ConfigFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := change(string(content))
	d, err := parseDocument(p.ConfigFile, text)
	if err == nil {
		_, err = d.understand(Default())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHostByHand, err)
	}
	return disk.Replace(p.ConfigFile, []byte(text))
}

// headerOf returns the table header on a line, without blanks and comment; "" for any other line.
func headerOf(line string) string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
	line = strings.ReplaceAll(strings.TrimSpace(line), " ", "")
	if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
		return ""
	}
	return line
}

// withHost returns a file's text with the lines of one host replaced or added.
func withHost(text, name string, h Host) string {
	header := "[hosts." + name + "]"
	if h.Paw != "" {
		text = withKey(text, header, "paw", h.Paw)
	}
	text = withKey(text, header, "ssh", h.SSH)
	for _, here := range slices.Sorted(maps.Keys(h.Repos)) {
		text = withKey(text, "[hosts."+name+".repos]", quoted(here), h.Repos[here])
	}
	return text
}

// withKey returns a file's text with a key set in a table: in the key's own line, else below the
// table's header, else in a new table.
func withKey(text, header, key, value string) string {
	line := key + " = " + quoted(value) + "\n"
	lines := strings.SplitAfter(text, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return headerOf(line) == header })
	if at < 0 {
		return text + separation(text) + header + "\n" + line
	}
	for i := at + 1; i < len(lines) && headerOf(lines[i]) == ""; i++ {
		if name, _, ok := strings.Cut(lines[i], "="); ok && strings.TrimSpace(name) == key {
			lines[i] = line
			return strings.Join(lines, "")
		}
	}
	lines[at] = ended(lines[at]) + line
	return strings.Join(lines, "")
}

// withoutHost returns a file's text without the tables of one host.
func withoutHost(text, name string) string {
	gone := false
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
		if header := headerOf(line); header != "" {
			gone = header == "[hosts."+name+"]" || header == "[hosts."+name+".repos]"
		}
		return gone
	}), "")
}

// separation returns the line breaks to append to a text before a new table: one empty line.
func separation(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimPrefix(ended(text), text) + "\n"
}

func ended(line string) string { return strings.TrimSuffix(line, "\n") + "\n" }

// quoted writes a TOML basic string. checkVisible has accepted the text, so only \ and " need an
// escape.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// CheckHost returns an error for a host that cannot be saved.
func CheckHost(name string, h Host) error {
	if p := checkHostName(name); p != nil {
		return p.of("host")
	}
	if p := checkDestination(h.SSH); p != nil {
		return p.of("ssh")
	}
	return nil
}
