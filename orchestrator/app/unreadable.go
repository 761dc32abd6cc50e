package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// UnreadableHere is why a record cannot be read that is of the place the user stands in, nil where there is none.
func (h *App) UnreadableHere() error {
	repository, err := worktree.Discover(h.Dir)
	if err != nil {
		return nil //nolint:nilerr // no place of a session
	}
	for _, one := range h.Store.UnreadableRecords() {
		if one.Names(repository.Worktree, repository.Path, repository.CommonDir) || !one.Placed() && h.madeTurnsIn(repository, one.Name) {
			return h.RecordError("", one.Err)
		}
	}
	return nil
}

// madeTurnsIn reports whether a session of this home has refs in a repository, by the folders of its agents: its record says nothing.
func (h *App) madeTurnsIn(repository worktree.Repository, sessionName string) bool {
	agents, _ := os.ReadDir(filepath.Dir(h.StateDir(sessionName, "x")))
	var prefixes []string
	for _, agent := range agents {
		prefixes = append(prefixes, turn.RefPrefix(sessionName+"_"+agent.Name()))
	}
	if len(prefixes) == 0 {
		return false
	}
	refs, err := h.Manager(repository).Refs(context.Background(), prefixes...)
	return err == nil && len(refs) > 0
}

// WithEnd adds to the error of a record that cannot be read, first, the line that closes the panes of its agents: paw does not, because
// it cannot write down that it did.
func (h *App) WithEnd(ctx context.Context, err error) error {
	var corrupt *session.CorruptError
	var newer *session.VersionError
	var name string
	switch {
	case errors.As(err, &corrupt):
		name = corrupt.Name
	case errors.As(err, &newer):
		name = newer.Name
	default:
		return err
	}
	client := h.TmuxFor(nil)
	if one := h.Store.Unreadable(name); one != nil && one.Socket != "" {
		client = tmux.New(one.Socket)
	}
	_, panes, listErr := client.Panes(ctx)
	words, lineErr := client.Words()
	if listErr != nil || lineErr != nil {
		return err
	}
	var kills []string
	for _, pane := range panes {
		if pane.Identity != nil && pane.Identity.Session == name {
			kills = append(kills, "kill-pane -t "+pane.ID)
		}
	}
	if len(kills) == 0 {
		return err
	}
	for i := range words {
		words[i] = errs.Quote(words[i])
	}
	line := strings.Join(words, " ") + " " + strings.Join(kills, ` \; `)
	return &errs.Error{Kind: errs.Failed, Message: err.Error(), Hints: append([]string{line}, errs.HintsOf(err)...), Err: err}
}
