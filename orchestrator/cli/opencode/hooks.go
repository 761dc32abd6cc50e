package opencode

import (
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/questions"

	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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

// hookPayload has the fields of all events of the plugin.
type hookPayload struct {
	Session  string `json:"session"`
	Folder   string `json:"folder"`
	Turn     string `json:"turn"`
	Prompt   string `json:"prompt"`
	Queued   bool   `json:"queued"`
	Question string `json:"question"`
	Message  string `json:"message"`
	Finish   string `json:"finish"`   // end of the last message: "stop", "length", "tool-calls"; "" when it was cut off
	Until    int64  `json:"until"`    // Unix time in milliseconds of opencode's next attempt
	Rejected bool   `json:"rejected"` // the user refused a permission or did not answer a question
	Error    *struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Status  int    `json:"status"`
	} `json:"error"`
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hookPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	e := turn.Event{Conversation: p.Session, TurnID: p.Turn, Folder: p.Folder}
	switch name {
	case "load": // the plugin works; a conversation exists only from the first prompt on
		e.Kind, e.Source = turn.KindSessionStart, turn.SourceStartup
	case "prompt":
		e.Kind, e.Prompt, e.Queued = turn.KindPrompt, p.Prompt, p.Queued
	case "asked":
		e.Kind, e.Message = turn.KindInput, questions.Title(p.Question)
	case "replied":
		e.Kind = turn.KindAnswered
	case "limited":
		e.Kind, e.Message, e.Limit = turn.KindLimit, p.Message, &turn.Limit{Until: time.UnixMilli(p.Until)}
	case "idle":
		p.end(&e)
	case "dispose":
		e.Kind, e.Source = turn.KindSessionEnd, "exit"
	}
	return e, nil
}

// end tells how a turn ended. An Esc while opencode waits to retry after an API error, and a
// rejected permission, leave no error, but no finished message either.
func (p hookPayload) end(e *turn.Event) {
	switch {
	case p.Error != nil && p.Error.Name == "MessageAbortedError":
		e.Kind = turn.KindInterrupt
	case p.Error != nil:
		e.Kind, e.ErrorType, e.Message = turn.KindError, p.Error.Name, p.Error.Message
		if p.Error.Status != 0 {
			e.ErrorType += " " + strconv.Itoa(p.Error.Status)
		}
	case p.Rejected && (p.Finish == "" || p.Finish == "tool-calls"):
		e.Kind, e.Message = turn.KindInterrupt, "the user rejected a permission"
	case p.Finish == "" || p.Finish == "tool-calls":
		e.Kind = turn.KindInterrupt
	default:
		e.Kind, e.Message = turn.KindEnd, p.Message
	}
}
