package opencode

import (
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"

	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"paw/session/turn"
)

//go:embed plugin.js
var pluginSource string

// configVariable holds JSON that opencode merges over the configuration of all files.
const configVariable = "OPENCODE_CONFIG_CONTENT"

// command returns a launch that loads paw's plugin beside the user's own, from a file outside of the
// worktree.
func (o driver) command(s cli.Spec, argv []string) (cli.Command, error) {
	if s.Hook == "" {
		return cli.Command{Argv: argv}, nil
	}
	plugin := strings.NewReplacer(
		"@HOOK@", string(hooks.JSON(s.Hook)), "@LONG@", strconv.Itoa(hooks.Patience), "@SHORT@", strconv.Itoa(hooks.Moment),
		"@SERVER@", string(hooks.JSON(filepath.Join(s.StateDir, serverName))), "@PASSWORD@", passwordVariable,
	).Replace(pluginSource)
	file := cli.File{Path: filepath.Join(s.StateDir, "paw-opencode.js"), Content: []byte(plugin)}
	config, err := content(cli.Getenv(s.Env, configVariable), file.Path)
	if err != nil {
		return cli.Command{}, fmt.Errorf("opencode: %s: %w", configVariable, err)
	}
	// The plugin would take this variable for the pid of an opencode that runs this one.
	return serve(s, cli.Command{Argv: argv, Env: []string{configVariable + "=" + config}, Unset: []string{"PAW_OPENCODE_PID"}, Files: []cli.File{file}}), nil
}

// content adds the plugin to the configuration that the variable already has.
func content(given, plugin string) (string, error) {
	config, err := hooks.Object(hooks.WithoutComments([]byte(given)))
	if err != nil {
		return "", err
	}
	var plugins []json.RawMessage
	if raw, ok := config["plugin"]; ok {
		if err := json.Unmarshal(raw, &plugins); err != nil {
			return "", fmt.Errorf("plugin: %w", err)
		}
	}
	own := url.URL{Scheme: "file", Path: plugin}
	config["plugin"] = hooks.JSON(append(plugins, hooks.JSON(own.String())))
	return string(hooks.JSON(config)), nil
}

// end is the payload of the end of a turn: beside the fields of a turn.Event it has what tells how the turn ended.
type end struct {
	Finish   string `json:"finish"`   // end of the last message: "stop", "length", "tool-calls"; "" when it was cut off
	Rejected bool   `json:"rejected"` // the user refused a permission or did not answer a question
	Error    *struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Status  int    `json:"status"`
	} `json:"error"`
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	e, err := hooks.Own(name, payload)
	var how end
	if err == nil && e.Kind == turn.KindEnd {
		err = json.Unmarshal(payload, &how)
		how.tell(&e)
	}
	return e, err
}

// tell completes the end of a turn. An Esc while opencode waits to retry after an API error, and a rejected permission, leave no
// error, but no finished message either.
func (how end) tell(e *turn.Event) {
	failed, cut := how.Error, how.Finish == "" || how.Finish == "tool-calls"
	switch {
	case failed != nil && failed.Name != "MessageAbortedError":
		e.Kind, e.ErrorType, e.Message = turn.KindError, failed.Name, failed.Message
		if failed.Status != 0 {
			e.ErrorType += " " + strconv.Itoa(failed.Status)
		}
	case failed != nil || cut:
		e.Kind, e.Message = turn.KindInterrupt, ""
		if failed == nil && how.Rejected {
			e.Message = "the user rejected a permission"
		}
	}
}
