package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/orchestrator/landing"
	"paw/orchestrator/startplan"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Work of agents on a host gets here in three steps: the paw there sets refs on their states (paw
// __state, paw __origin), git fetches these refs (FetchCommand here, paw __upload there), and a
// record here lists what has landed.

// FetchCommand is the hidden command that git runs here in place of ssh: paw __fetching HOST DIR,
// followed by git's own arguments.
const FetchCommand = "__fetching"

// Far is a checkout on a host.
type Far struct {
	Client hosts.Client
	Host   hosts.Host
	Dir    string   // path on the host
	Words  []string // AGENT or AGENT@N, with the names that the host uses
	Again  string   // command line to repeat after a failure
}

// Fetched is the outcome of a fetch of agents' states.
type Fetched struct {
	Session *session.Session // record on this machine
	Handed  map[string]landing.Handed
	Agents  []string // names of the agents, in the order of Far.Words
}

// handTime bounds how long a host may take to set refs on the states of agents.
const handTime = time.Minute

// fetchTries bounds how often a fetch is repeated because another machine asked for a state
// meanwhile, which moved the ref.
const fetchTries = 3

// States fetches the states of agents into the user's repository; with newest, the states for a
// forecast. With keep they are recorded.
func (f Far) States(ctx context.Context, h *app.App, newest, keep bool) (*Fetched, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return nil, err
	}
	m := h.Manager(repository)
	for range fetchTries {
		p, err := f.parcel(ctx, h, m, newest)
		if err != nil {
			return nil, err
		}
		came, err := p.Fetched(ctx, m, f.Host.Name)
		if err != nil {
			return nil, err
		}
		if !came {
			continue
		}
		work := &Fetched{Agents: p.Agents()}
		if work.Session, err = p.Far(ctx, h, m, f.Host.Name, m.Refs().CurrentBranch(), keep); err != nil {
			return nil, err
		}
		h.Step("fetch.recorded")
		work.Handed, err = p.Handed(ctx, m, f.Host.Name, f.Host.SSH)
		return work, err
	}
	return nil, f.elsewhere()
}

// elsewhere returns the error after all repetitions of a fetch.
func (f Far) elsewhere() error {
	return errs.New(errs.Locked, "%s: its states were handed to somebody else meanwhile", f.Host.Name).Hint("%s", f.Again)
}

// parcel has the host set refs on the states, and fetches the refs.
func (f Far) parcel(ctx context.Context, h *app.App, m *worktree.Manager, newest bool) (*landing.Parcel, error) {
	words := f.Words
	if newest {
		words = append([]string{"--newest"}, words...)
	}
	text, err := f.ask(ctx, "__state", words...)
	if err != nil {
		return nil, err
	}
	p, err := landing.ParseParcel(text)
	if err != nil {
		return nil, f.failed(err)
	}
	h.Step("fetch.handed")
	if err := f.fetch(ctx, h, m, p.Refspecs(f.Host.Name)); err != nil {
		return nil, err
	}
	h.Step("fetch.refs")
	return p, nil
}

// Origin fetches the state from which new agents of a session start.
func (f Far) Origin(ctx context.Context, h *app.App, s *session.Session) (*startplan.Origin, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	for range fetchTries {
		text, err := f.ask(ctx, "__origin", f.Words...)
		if err != nil {
			return nil, err
		}
		p, err := startplan.ParseOrigin(text)
		if err != nil {
			return nil, f.failed(err)
		}
		if err := f.fetch(ctx, h, m, []string{p.Refspec(f.Host.Name)}); err != nil {
			return nil, err
		}
		ref := turn.HandedRef(session.FarTurnSession(f.Host.Name, p.TurnSession))
		at, err := m.Refs().Read(ctx, ref)
		if err != nil {
			return nil, err
		}
		if at == p.State() {
			return p.Origin(f.Host.Name), nil
		}
	}
	return nil, f.elsewhere()
}

func (f Far) failed(err error) error {
	return errs.New(errs.Failed, "%s: %w", f.Host.Name, err).Hint("paw host doctor %s", f.Host.Name)
}

// ask runs a hidden command on the host that sets refs on states, and returns its output.
func (f Far) ask(ctx context.Context, command string, words ...string) ([]byte, error) {
	text, err := f.Client.Ask(ctx, f.Host, handTime, f.Dir, append([]string{command, "--json"}, words...)...)
	var refused *hosts.Refusal
	var lost *hosts.NotReached
	switch {
	case errors.As(err, &lost):
		return nil, errs.New(errs.Failed, "%w", lost).Hint("paw host doctor %s", f.Host.Name)
	case !errors.As(err, &refused):
		return text, err
	case refused.Code == int(errs.Usage) && strings.Contains(refused.Said, command):
		version, _ := f.Client.Read(ctx, f.Host, "", "version", "--json")
		return nil, errs.New(errs.Failed, "%s runs paw %s, which hands no work over", f.Host.Name, hosts.VersionIn(version)).
			Hint("paw host add %s %s --install", f.Host.Name, errs.Quote(f.Host.SSH))
	}
	e := errs.New(errs.Failed, "%w", refused).Hint("paw status")
	if refused.Code > 0 && refused.Code <= int(errs.Missing) {
		e.Kind = errs.Kind(refused.Code)
	}
	return nil, e
}

// fetch runs git fetch for the host's checkout.
func (f Far) fetch(ctx context.Context, h *app.App, m *worktree.Manager, refspecs []string) error {
	program := fmt.Sprintf("%s %s %s %s", errs.Quote(h.Executable), FetchCommand, errs.Quote(f.Host.Name), errs.Quote(f.Dir))
	err := m.Remotes().FetchRefs(ctx, h.Env, program, f.Host.Name, refspecs)
	var failed *git.Error
	if !errors.As(err, &failed) {
		return err
	}
	for line := range strings.Lines(failed.Stderr) {
		if words, ok := strings.CutPrefix(line, "paw: error: "); ok {
			return f.failed(errors.New(strings.TrimPrefix(display.Words(words), f.Host.Name+": ")))
		}
	}
	if failed.Said("fsck") {
		return errs.New(errs.Refused, "%s: sends an object that git refuses: %w", f.Host.Name, err).Hint("ssh -t %s git -C %s fsck", errs.Quote(f.Host.SSH), errs.Quote(f.Dir))
	}
	return f.failed(err)
}

// Upload serves the current repository to a fetch of another machine, in the version of git's
// protocol that GIT_PROTOCOL names.
func Upload(ctx context.Context, h *app.App, protocol string, in io.Reader, out io.Writer) error {
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return err
	}
	return h.Manager(repository).Remotes().Serve(ctx, protocol, in, out)
}
