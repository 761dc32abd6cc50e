package pi

import (
	_ "embed" // embeds the extension
	"path/filepath"
	"strconv"
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/inbox"
	"paw/session/turn"
)

//go:embed extension.js
var extensionSource string

// extension returns the options and files of a launch that loads paw's extension beside the user's own, from a file
// outside of the worktree. Programs that the agent runs do not inherit it.
func (driver) extension(s cli.Spec) cli.Command {
	if s.Hook == "" {
		return cli.Command{}
	}
	channel := inbox.Of(s, "pi")
	source := strings.NewReplacer(
		"@HOOK@", string(hooks.JSON(s.Hook)), "@LONG@", strconv.Itoa(hooks.Patience), "@SHORT@", strconv.Itoa(hooks.Moment),
		"@LISTENS@", string(hooks.JSON(channel.Listens)), "@INBOX@", string(hooks.JSON(channel.Path)),
	).Replace(extensionSource)
	file := cli.File{Path: filepath.Join(s.StateDir, "paw-pi.js"), Content: []byte(source)}
	return cli.Command{Argv: []string{"-e", file.Path}, Files: append([]cli.File{file}, channel.Files()...)}
}

func (driver) Event(name string, payload []byte) (turn.Event, error) { return hooks.Own(name, payload) }
