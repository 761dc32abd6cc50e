package config

import (
	"errors"
	"fmt"
	"io/fs"
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
	return p.edit(func(text string) (string, error) { return withHost(text, name, h) })
}

// DeleteHost removes a host from the user's file.
func (p Paths) DeleteHost(name string) error {
	return p.edit(func(text string) (string, error) { return withoutHost(text, name), nil })
}

// edit changes the user's file under a lock, and returns ErrHostByHand for a result that is no
// valid configuration.
func (p Paths) edit(change func(string) (string, error)) error {
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
	text, err := change(string(content))
	if err != nil {
		return err
	}
	d, err := parseDocument(p.ConfigFile, text)
	if err == nil {
		_, err = d.understand(Default())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHostByHand, err)
	}
	return disk.Replace(p.ConfigFile, []byte(text))
}

// section is the range of lines of one table: from its header to the next header, exclusive.
type section struct{ begin, end int }

func sectionOf(lines []string, header string) (section, bool) {
	begin := slices.IndexFunc(lines, func(line string) bool { return headerOf(line) == header })
	if begin < 0 {
		return section{}, false
	}
	end := begin + 1
	for end < len(lines) && headerOf(lines[end]) == "" {
		end++
	}
	return section{begin, end}, true
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
func withHost(text, name string, h Host) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	header, repos := "[hosts."+name+"]", "[hosts."+name+".repos]"
	own, found := sectionOf(lines, header)
	if !found {
		if d, err := parseDocument("", text); err == nil && d.value([]string{"hosts", name}) != nil {
			return "", ErrHostByHand
		}
		return text + separation(text) + header + "\n" + hostLines(h) + reposText(repos, h), nil
	}
	for key, value := range map[string]string{"ssh": h.SSH, "paw": h.Paw} {
		if value == "" {
			continue
		}
		line := key + " = " + quoted(value) + "\n"
		if at := lineOfKey(lines, own, key); at >= 0 {
			lines[at] = line
		} else {
			lines[own.begin] = ended(lines[own.begin]) + line
		}
	}
	if len(h.Repos) == 0 {
		return strings.Join(lines, ""), nil
	}
	if lineOfKey(lines, own, "repos") >= 0 {
		return "", ErrHostByHand
	}
	below, found := sectionOf(lines, repos)
	if !found {
		text = strings.Join(lines, "")
		return text + separation(text) + reposText(repos, h), nil
	}
	for here, there := range h.Repos {
		line := quoted(here) + " = " + quoted(there) + "\n"
		if at := lineOfKey(lines, below, quoted(here)); at >= 0 {
			lines[at] = line
		} else {
			lines[below.begin] = ended(lines[below.begin]) + line
		}
	}
	return strings.Join(lines, ""), nil
}

// withoutHost returns a file's text without the tables of one host.
func withoutHost(text, name string) string {
	lines := strings.SplitAfter(text, "\n")
	for _, header := range []string{"[hosts." + name + ".repos]", "[hosts." + name + "]"} {
		if own, found := sectionOf(lines, header); found {
			lines = slices.Delete(lines, own.begin, own.end)
		}
	}
	return strings.Join(lines, "")
}

// lineOfKey returns the index of the line that sets a key in a section, -1 for none.
func lineOfKey(lines []string, in section, key string) int {
	for i := in.begin + 1; i < in.end; i++ {
		if name, _, ok := strings.Cut(lines[i], "="); ok && strings.TrimSpace(name) == key {
			return i
		}
	}
	return -1
}

func hostLines(h Host) string {
	text := "ssh = " + quoted(h.SSH) + "\n"
	if h.Paw != "" {
		text += "paw = " + quoted(h.Paw) + "\n"
	}
	return text
}

func reposText(header string, h Host) string {
	if len(h.Repos) == 0 {
		return ""
	}
	text := header + "\n"
	for here, there := range h.Repos {
		text += quoted(here) + " = " + quoted(there) + "\n"
	}
	return text
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
