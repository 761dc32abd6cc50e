package tmux

import "context"

// Respawn starts an agent in a pane whose process has ended, and keeps the pane's id and place. Of any number of callers
// one wins; the others get ErrStillActive, and nothing of theirs is left on the pane.
func (c *Client) Respawn(ctx context.Context, paneID string, a AgentPane) error {
	if err := checkID('%', paneID); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	commands := []command{
		{"set-option", "-p", "-t", paneID, "remain-on-exit", "on"}, // before the program can end
		// Once the program runs its own reports set the label, and must not be written over.
		{"if-shell", "-F", "-t", paneID, "#{pane_dead}", quotedScript(labelOptions(paneID, a.label()))},
		append(command{"respawn-pane", "-t", paneID}, a.Argv...),
	}
	commands = append(append(commands, a.pipe(paneID)...), paneOptions(paneID, a)...)
	_, err := c.call(ctx, append(commands, windowOptions(paneID)...)...)
	return named(err, "respawn-pane")
}
