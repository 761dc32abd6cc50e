package agent

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
)

// systemSettings is the file of gemini or qwen whose settings win over the user's, and to whose hooks the user's are
// added. A launch gets a copy of it with what paw needs.
type systemSettings struct {
	cli      string
	variable string // names the file; with _DEFAULTS_ for _SETTINGS_ the one of defaults, which else lies beside it
	linux    string // where it is when the variable is not set
	darwin   string
	guard    string // variable that the CLI sets for the programs it runs
}

// path is the file that the CLI would read without paw.
func (f systemSettings) path(s Spec) string {
	switch path := getenv(s.Env, f.variable); {
	case path != "":
		return path
	case runtime.GOOS == "darwin":
		return f.darwin
	}
	return f.linux
}

// defaults is the variable that names the file of defaults.
func (f systemSettings) defaults() string {
	return strings.Replace(f.variable, "_SETTINGS_", "_DEFAULTS_", 1)
}

// marks are the variables that a launch sets, and the one that the CLI sets itself.
func (f systemSettings) marks() []string { return []string{f.guard, f.variable, f.defaults()} }

// read returns the settings, none when there is no file.
func (f systemSettings) read(s Spec) (map[string]json.RawMessage, error) {
	settings := map[string]json.RawMessage{}
	content, err := os.ReadFile(f.path(s))
	if errors.Is(err, fs.ErrNotExist) {
		return settings, nil
	}
	if err == nil {
		err = json.Unmarshal(withoutComments(content), &settings)
	}
	if err == nil && settings == nil {
		err = errors.New("null is no object")
	}
	return settings, err
}

// launch is argv with a copy of the settings that change has changed and that has hooks for the events.
func (f systemSettings) launch(s Spec, argv, events []string, change func(map[string]json.RawMessage) error) (Command, error) {
	if !filepath.IsAbs(s.StateDir) {
		return Command{}, fmt.Errorf("%s: settings: no folder for them: %q", f.cli, s.StateDir)
	}
	settings, err := f.read(s)
	if err == nil && change != nil {
		err = change(settings)
	}
	if err == nil && s.Hook != "" {
		err = f.addHooks(s, settings, events)
	}
	var content json.RawMessage
	if err == nil {
		content, err = encodeJSON(settings)
	}
	if err != nil {
		return Command{}, fmt.Errorf("%s: system settings %s: %w", f.cli, f.path(s), err)
	}
	file := File{Path: filepath.Join(s.StateDir, f.cli+"-system-settings.json"), Content: append(content, '\n')}
	env := []string{f.variable + "=" + file.Path}
	// The defaults are sought beside the settings, so they get the place that they would have had.
	if defaults := f.defaults(); getenv(s.Env, defaults) == "" {
		env = append(env, defaults+"="+filepath.Join(filepath.Dir(f.path(s)), "system-defaults.json"))
	}
	return Command{Argv: argv, Env: env, Unset: []string{f.guard}, Files: []File{file}}, nil
}

// addHooks adds a hook for each event. The agent's own programs inherit the settings; the guard keeps a CLI that the
// agent runs from reporting turns of its own.
func (f systemSettings) addHooks(s Spec, settings map[string]json.RawMessage, events []string) error {
	if !filepath.IsAbs(s.Hook) {
		return fmt.Errorf("hooks: %q is not an absolute path", s.Hook)
	}
	hooks := map[string]hookGroup{}
	for _, event := range events {
		name, matcher, _ := strings.Cut(event, ":")
		hooks[name] = hookGroup{Matcher: matcher, Hooks: []hookEntry{{
			Type: "command", Command: `[ -n "$` + f.guard + `" ] || ` + hookCommand(s, f.cli, name), Timeout: 1000 * hookPatienceFor(name),
		}}}
	}
	return addHooks(settings, hooks)
}

// withoutComments blanks the // and /* */ comments that gemini allows in its settings.
func withoutComments(content []byte) []byte {
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
