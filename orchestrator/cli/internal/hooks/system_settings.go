package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"paw/orchestrator/cli"
)

// SystemSettings locates the settings file of gemini or qwen that takes precedence over the user's;
// the hooks of both are merged. A launch gets a copy of the file with paw's additions.
type SystemSettings struct {
	CLI      string
	Variable string // environment variable with the file's path; the one with _DEFAULTS_ in place of _SETTINGS_ names the file of defaults, which otherwise lies beside it
	Linux    string // path when the variable is not set
	Darwin   string
	Guard    string   // variable that the CLI sets for the programs it runs
	Long     []string // events at which turns begin and end
}

// path returns the file that the CLI would read without paw.
func (f SystemSettings) path(s cli.Spec) string {
	switch path := cli.Getenv(s.Env, f.Variable); {
	case path != "":
		return path
	case runtime.GOOS == "darwin":
		return f.Darwin
	}
	return f.Linux
}

// defaults returns the variable that names the file of defaults.
func (f SystemSettings) defaults() string {
	return strings.Replace(f.Variable, "_SETTINGS_", "_DEFAULTS_", 1)
}

// Marks returns the variables that a launch sets, and the one that the CLI sets.
func (f SystemSettings) Marks() []string { return []string{f.Guard, f.Variable, f.defaults()} }

// read returns the settings, an empty map when there is no file.
func (f SystemSettings) read(s cli.Spec) (map[string]json.RawMessage, error) {
	settings := map[string]json.RawMessage{}
	content, err := os.ReadFile(f.path(s))
	if errors.Is(err, fs.ErrNotExist) {
		return settings, nil
	}
	if err == nil {
		err = json.Unmarshal(WithoutComments(content), &settings)
	}
	if err == nil && settings == nil {
		err = errors.New("null is no object")
	}
	return settings, err
}

// Launch returns argv with a copy of the settings, altered by change and with hooks for the events.
func (f SystemSettings) Launch(s cli.Spec, argv, events []string, change func(map[string]json.RawMessage) error) (cli.Command, error) {
	settings, err := f.read(s)
	if err == nil && change != nil {
		err = change(settings)
	}
	if err == nil && s.Hook != "" {
		err = f.addHooks(s, settings, events)
	}
	if err != nil {
		return cli.Command{}, fmt.Errorf("%s: system settings %s: %w", f.CLI, f.path(s), err)
	}
	file := cli.File{Path: filepath.Join(s.StateDir, f.CLI+"-system-settings.json"), Content: append(JSON(settings), '\n')}
	env := []string{f.Variable + "=" + file.Path}
	// The CLI looks for the defaults beside the settings: the variable keeps them where they were.
	if defaults := f.defaults(); cli.Getenv(s.Env, defaults) == "" {
		env = append(env, defaults+"="+filepath.Join(filepath.Dir(f.path(s)), "system-defaults.json"))
	}
	return cli.Command{Argv: argv, Env: env, Unset: []string{f.Guard}, Files: []cli.File{file}}, nil
}

// addHooks adds a hook for each event. Programs that the agent runs inherit the settings; the guard
// keeps a nested CLI from reporting turns.
func (f SystemSettings) addHooks(s cli.Spec, settings map[string]json.RawMessage, events []string) error {
	return Add(settings, Groups(events, func(name string) Entry {
		return Entry{
			Type: "command", Command: `[ -n "$` + f.Guard + `" ] || ` + Command(s, f.CLI, name), Timeout: 1000 * PatienceFor(name, f.Long...),
		}
	}))
}

// WithoutComments blanks the // and /* */ comments that gemini allows in its settings.
func WithoutComments(content []byte) []byte {
	out := bytes.Clone(content)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, "\n")
		case bytes.HasPrefix(out[i:], []byte("/*")):
			i = blank(out, i, "*/")
		}
	}
	return out
}

// blank replaces the comment that begins at start, up to end or the end of the text, by spaces, and
// returns the index of its last byte.
func blank(text []byte, start int, end string) int {
	stop := len(text)
	if n := bytes.Index(text[start+2:], []byte(end)); n >= 0 {
		stop = start + 2 + n + len(end)
	}
	for i := start; i < stop; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return stop - 1
}
