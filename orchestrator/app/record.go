package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"paw/config"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/tmux"
)

// UnlessGone returns nil for the error of a session that does not exist any more.
func UnlessGone(err error) error {
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.NotFound {
		return nil
	}
	return err
}

// Load reads the record of a session, which must exist.
func (h *App) Load(name string) (*session.Session, error) {
	if err := session.ValidateName("session", name); err != nil {
		return nil, errs.New(errs.Usage, "%w", err)
	}
	return h.LoadAny(name)
}

// LoadAny is like Load, but also loads sessions of other machines whose work has landed here.
func (h *App) LoadAny(name string) (*session.Session, error) {
	s, err := h.Store.LoadAny(name)
	if err != nil {
		return nil, h.RecordError(name, err)
	}
	if s == nil {
		return nil, errs.New(errs.NotFound, "%s: no such session", name).Hint("paw status --all")
	}
	return s, nil
}

// RecordError puts an error of the store into an *errs.Error with hints.
func (h *App) RecordError(name string, err error) error {
	var said *errs.Error
	var locked *session.LockedError
	var corrupt *session.CorruptError
	var newer *session.VersionError
	var file *fs.PathError
	switch {
	case errors.As(err, &said):
	case errors.As(err, &corrupt):
		e := errs.New(errs.Failed, "%w", err).Hint("mv %s %s", errs.Quote(corrupt.Path), errs.Quote(corrupt.Path+".aside"))
		if dir := filepath.Dir(corrupt.Path); strings.HasPrefix(dir, h.Queues().Dir) { // the prompts of its tasks
			return e.Hint("cat %s/*.md", errs.Quote(dir))
		}
		return hintAtUnseen(h, e, corrupt.Path)
	case errors.As(err, &newer) && strings.HasPrefix(newer.Path, h.Queues().Dir):
		return errs.New(errs.Failed, "%w", err).Hint("mv %s %s", errs.Quote(newer.Path), errs.Quote(newer.Path+".aside"))
	case errors.As(err, &locked):
		return errs.New(errs.Locked, "%w", err)
	case errors.As(err, &file) && filepath.Dir(file.Path) == h.Store.Dir && filepath.Ext(file.Path) == ".json":
		return errs.New(errs.Failed, "%w", err).Hint("ls -l %s", errs.Quote(file.Path))
	case errors.Is(err, session.ErrNotFound):
		return errs.New(errs.NotFound, "%s: no such session", name).Hint("paw status --all")
	}
	return err
}

// hintAtUnseen adds the line that ends the agents of a session whose record cannot be read: without it no command of paw finds them.
func hintAtUnseen(h *App, e *errs.Error, record string) *errs.Error {
	socket, err := tmux.New(h.Config.Tmux.Socket).SocketPath()
	if err != nil || filepath.Dir(record) != h.Store.Dir || !tmux.Reachable(socket) {
		return e
	}
	return e.Hint("tmux -S %s kill-session -t '=paw-%s'", errs.Quote(socket), strings.TrimSuffix(filepath.Base(record), ".json"))
}

// AgentNamed returns the agent of that name, or an error that suggests another name.
func AgentNamed(s *session.Session, name string) (*session.Agent, error) {
	if w := s.Agent(name); w != nil {
		return w, nil
	}
	e := errs.New(errs.NotFound, "%s: no such agent in %s (it has %s)", name, s.Name, cmp.Or(strings.Join(AgentNames(s), ", "), "none")).
		Hint("paw status %s", s.Name)
	e.Instead = errs.Instead{Of: name, By: config.Nearest(name, AgentNames(s))}
	for i := range s.Agents {
		if strconv.Itoa(s.Number(i)) == name {
			e.Instead.By = s.Agents[i].Name
			e.Message = fmt.Sprintf("%s: no such agent in %s; the one with that number is %s", name, s.Name, e.Instead.By)
		}
	}
	return nil, e
}

// LoadConfigured is like Load, and also returns h with the configuration of the session's
// repository.
func (h *App) LoadConfigured(name string) (*session.Session, *App, error) {
	s, err := h.Load(name)
	if err != nil {
		return nil, h, err
	}
	h, err = h.ConfiguredFor(s)
	return s, h, err
}

// RequireAgents refuses names that no agent of the session has.
func RequireAgents(s *session.Session, names ...string) error {
	for _, name := range names {
		if _, err := AgentNamed(s, name); err != nil {
			return err
		}
	}
	return nil
}

// Once removes repeated names.
func Once(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// Update changes a record under the session lock, for which it waits at most LockWait.
func (h *App) Update(ctx context.Context, name string, change func(*session.Session) error) (*session.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	s, err := h.Store.Update(ctx, name, change)
	return s, h.RecordError(name, err)
}

// UpdateSoon is like Update, but does not wait for the disk: for values that paw can find out
// again.
func (h *App) UpdateSoon(ctx context.Context, name string, change func(*session.Session) error) (*session.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	s, err := h.Store.UpdateSoon(ctx, name, change)
	return s, h.RecordError(name, err)
}

// UpdateAgent changes the entry of one agent, if the session still has the agent.
func (h *App) UpdateAgent(ctx context.Context, sessionName, agentName string, change func(*session.Agent)) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		if w := rec.Agent(agentName); w != nil {
			change(w)
		}
		return nil
	})
	return err
}

// Hold takes a lock of an agent, for which it waits at most LockWait.
func (h *App) Hold(ctx context.Context, lock func(ctx context.Context, session, agent string) (func(), error), session, agent string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	unlock, err = lock(ctx, session, agent)
	return unlock, h.RecordError(session, err)
}

// AgentNames returns the names of the session's agents, in the order of the record.
func AgentNames(s *session.Session) []string {
	names := make([]string, len(s.Agents))
	for i, w := range s.Agents {
		names[i] = w.Name
	}
	return names
}

// ErrAdded says that a session was not deleted, since it has got another agent meanwhile.
var ErrAdded = errors.New("was added in the meantime")

// DeleteSession deletes the record after last has run, unless it has agents that are not in known:
// an add or run in the meantime made them. The error is then ErrAdded.
func (h *App) DeleteSession(ctx context.Context, name string, known []string, last func() error) error {
	ctx, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	err := h.Store.Delete(ctx, name, func(rec *session.Session) error {
		for _, w := range rec.Agents {
			if !slices.Contains(known, w.Name) {
				return errs.New(errs.Refused, "%s: not deleted, %s %w", name, w.Name, ErrAdded).Hint("paw status %s", name)
			}
		}
		return last()
	})
	return h.RecordError(name, err)
}

// WithEnd adds a hint to the error of an unreadable record: the tmux command that closes the panes
// of its agents. paw does not close them, because it could not record that.
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
