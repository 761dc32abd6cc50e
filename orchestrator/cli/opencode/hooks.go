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
func (o driver) command(s cli.Spec, conversation string, argv []string) (cli.Command, error) {
	if s.Hook == "" {
		return cli.Command{Argv: argv}, nil
	}
	c := channelOf(s)
	begin := hooks.JSON(told{Session: conversation, Asked: []request{}})
	plugin := strings.NewReplacer(
		"@HOOK@", string(hooks.JSON(s.Hook)), "@LONG@", strconv.Itoa(hooks.Patience), "@SHORT@", strconv.Itoa(hooks.Moment),
		"@LISTENS@", string(hooks.JSON(c.Listens)), "@INBOX@", string(hooks.JSON(c.Path)), "@STATE@", string(hooks.JSON(c.state)), "@TOLD@", string(begin),
	).Replace(pluginSource)
	file := cli.File{Path: filepath.Join(s.StateDir, "paw-opencode.js"), Content: []byte(plugin)}
	config, err := content(cli.Getenv(s.Env, configVariable), file.Path)
	if err != nil {
		return cli.Command{}, fmt.Errorf("opencode: %s: %w", configVariable, err)
	}
	return cli.Command{
		Argv: argv, Env: []string{configVariable + "=" + config},
		Unset: []string{"PAW_OPENCODE_PID"}, // which the plugin would take for the pid of an opencode that runs this one
		Files: append([]cli.File{file, {Path: c.state, Content: begin}}, c.Files()...),
	}, nil
}

// content adds the plugin to the configuration that the variable already has.
func content(given, plugin string) (string, error) {
	config, err := hooks.Object([]byte(given))
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

func (driver) Event(name string, payload []byte) (turn.Event, error) { return hooks.Own(name, payload) }
