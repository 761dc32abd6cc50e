package clis

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/session/turn"
)

// hooked drives a CLI that only the configuration describes, and that calls hooks as claude does.
type hooked struct{ custom }

// hookEvents lists the events that paw listens to. Some CLIs have more than claude: Interrupt, and PermissionResult.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PermissionRequest", "PermissionResult", "PostToolUse", "Interrupt", "Stop", "StopFailure", "SessionEnd",
}

func (h hooked) Launch(s cli.Spec) (cli.Command, error) {
	command, err := h.custom.Launch(s)
	return h.withHooks(s, command, err)
}

func (h hooked) Resume(s cli.Spec) (cli.Command, error) {
	command, err := h.custom.Resume(s)
	return h.withHooks(s, command, err)
}

// withHooks puts the settings of the launch in their place.
func (h hooked) withHooks(s cli.Spec, command cli.Command, err error) (cli.Command, error) {
	if err != nil {
		return cli.Command{}, err
	}
	settings := map[string]json.RawMessage{}
	if s.Hook != "" {
		if err := hooks.Add(settings, hookEvents, func(event string) hooks.Entry {
			return hooks.Entry{Type: "command", Command: hooks.Command(s, h.Of, event), Timeout: hooks.PatienceFor(event, "UserPromptSubmit", "Stop", "StopFailure")}
		}); err != nil {
			return cli.Command{}, err
		}
	}
	file, placed := cli.File{Path: filepath.Join(s.StateDir, h.Of+"-settings.json"), Content: append(hooks.JSON(settings), '\n')}, false
	put := func(word string) string {
		placed = placed || strings.Contains(word, config.SettingsPlace)
		return strings.ReplaceAll(word, config.SettingsPlace, file.Path)
	}
	command.Argv = slices.Clone(command.Argv)
	for i := range command.Argv {
		command.Argv[i] = put(command.Argv[i])
	}
	for key, value := range h.Env {
		command.Env = append(command.Env, key+"="+put(value))
	}
	if !placed {
		return cli.Command{}, fmt.Errorf("clis.%s.hooks: %s is not in its command, args, resume or env", h.Of, config.SettingsPlace)
	}
	command.Files = append(command.Files, file)
	return command, nil
}

func (h hooked) Event(name string, payload []byte) (turn.Event, error) {
	var p hooks.Payload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	switch e := p.Named(name); name {
	case "PermissionRequest": // a subagent's question, too, is for the user
		e.Child = false
		return e, nil
	case "PermissionResult":
		return p.Event(turn.KindAnswered), nil
	case "PostToolUse":
		return p.Event(turn.KindTool), nil
	case "Interrupt":
		return p.Event(turn.KindInterrupt), nil
	default:
		return e, nil
	}
}
