package qwen

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
)

// The settings that take precedence over the user's are in a file of the system; the hooks of both are merged. Variables name that
// file and the one of defaults, which otherwise lies beside it. qwen sets the guard for the programs that it runs.
const (
	settingsVariable = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
	defaultsVariable = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
	guard            = "QWEN_CODE"
)

// systemSettings returns the file that qwen would read without paw.
func systemSettings(s cli.Spec) string {
	own := "/etc/qwen-code/settings.json"
	if runtime.GOOS == "darwin" {
		own = "/Library/Application Support/QwenCode/settings.json"
	}
	return cmp.Or(cli.Getenv(s.Env, settingsVariable), own)
}

// command returns argv with a copy of the system's settings, to which paw's channel and hooks are added. Programs that the agent runs
// inherit the settings; the guard keeps a nested qwen from reporting turns.
func (q driver) command(s cli.Spec, argv []string) (cli.Command, error) {
	if s.Hook == "" {
		return cli.Command{Argv: argv}, nil
	}
	own, channel := systemSettings(s), channelOf(s)
	content, err := os.ReadFile(own)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var settings map[string]json.RawMessage
	if err == nil {
		settings, err = hooks.Object(content)
	}
	if err == nil {
		channel.addTo(settings)
		err = hooks.Add(settings, hookEvents, func(name string) hooks.Entry {
			// The hook Notification reports the end of a turn that an Esc stopped.
			patience := hooks.PatienceFor(name, "UserPromptSubmit", "Notification", "Stop", "StopFailure")
			return hooks.Entry{Type: "command", Command: `[ -n "$` + guard + `" ] || ` + hooks.Command(s, q.Name(), name), Timeout: 1000 * patience}
		})
	}
	if err != nil {
		return cli.Command{}, fmt.Errorf("qwen: system settings %s: %w", own, err)
	}
	file := cli.File{Path: filepath.Join(s.StateDir, "qwen-system-settings.json"), Content: append(hooks.JSON(settings), '\n')}
	env := []string{settingsVariable + "=" + file.Path}
	// qwen looks for the defaults beside the settings: the variable keeps them where they were.
	if cli.Getenv(s.Env, defaultsVariable) == "" {
		env = append(env, defaultsVariable+"="+filepath.Join(filepath.Dir(own), "system-defaults.json"))
	}
	return cli.Command{Argv: argv, Env: env, Unset: []string{guard}, Files: append([]cli.File{file}, channel.files()...)}, nil
}
