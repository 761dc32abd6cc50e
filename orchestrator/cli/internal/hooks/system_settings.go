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

// SystemSettings is the file of gemini or qwen whose settings win over the user's, and to whose hooks the user's are
// added. A launch gets a copy of it with what paw needs.
type SystemSettings struct {
	CLI      string
	Variable string // names the file; with _DEFAULTS_ for _SETTINGS_ the one of defaults, which else lies beside it
	Linux    string // where it is when the variable is not set
	Darwin   string
	Guard    string   // variable that the CLI sets for the programs it runs
	Long     []string // events at which turns begin and end
}

// path is the file that the CLI would read without paw.
func (f SystemSettings) path(s cli.Spec) string {
	switch path := cli.Getenv(s.Env, f.Variable); {
	case path != "":
		return path
	case runtime.GOOS == "darwin":
		return f.Darwin
	}
	return f.Linux
}

// defaults is the variable that names the file of defaults.
func (f SystemSettings) defaults() string {
	return strings.Replace(f.Variable, "_SETTINGS_", "_DEFAULTS_", 1)
}

// Marks are the variables that a launch sets, and the one that the CLI sets itself.
func (f SystemSettings) Marks() []string { return []string{f.Guard, f.Variable, f.defaults()} }

// read returns the settings, none when there is no file.
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

// Launch is argv with a copy of the settings that change has changed and that has hooks for the events.
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
	// The defaults are sought beside the settings, so they get the place that they would have had.
	if defaults := f.defaults(); cli.Getenv(s.Env, defaults) == "" {
		env = append(env, defaults+"="+filepath.Join(filepath.Dir(f.path(s)), "system-defaults.json"))
	}
	return cli.Command{Argv: argv, Env: env, Unset: []string{f.Guard}, Files: []cli.File{file}}, nil
}

// Add adds a hook for each event. The agent's own programs inherit the settings; the guard keeps a CLI that the
// agent runs from reporting turns of its own.
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

// blank makes spaces of a comment that begins at start and ends with end or the text, and returns its last byte.
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
