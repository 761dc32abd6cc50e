package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/startplan"
	"paw/session"
)

// fetching reports whether a command fetches the work of a host's agents and goes on with it on
// this machine.
func fetching(cmd *cobra.Command) bool {
	switch cmd.Name() {
	case "land", "forecast":
		return true
	case "check":
		here, _ := cmd.Flags().GetBool("here")
		return here
	}
	return false
}

// reachFar connects to the host of a.far, in the host's checkout of the repository at root.
func (a *invocation) reachFar(cmd *cobra.Command, h *app.App, root string) (*orchestrator.Far, error) {
	host := a.far.host
	if root == "" {
		return nil, errs.New(errs.Refused, "%s: into which repository? this is none", host.Name).Hint("cd CHECKOUT")
	}
	client, err := sshClient(h)
	if err != nil {
		return nil, err
	}
	dir, err := folderThere(cmd, root, host)
	if err != nil {
		return nil, err
	}
	if err := a.reach(cmd.Context(), client, host); err != nil {
		return nil, endedThere(0, err)
	}
	return &orchestrator.Far{Client: client, Host: host, Dir: dir, Words: a.far.words, Again: "paw " + strings.Join(a.typed, " ")}, nil
}

func (a *invocation) fetch(cmd *cobra.Command, newest, keep bool) (*app.App, *orchestrator.Fetched, error) {
	h, err := a.paw()
	if err != nil {
		return nil, nil, err
	}
	far, err := a.reachFar(cmd, h, h.Root())
	if err != nil {
		return nil, nil, err
	}
	work, err := far.States(cmd.Context(), h, newest, keep)
	return h, work, err
}

// addFromHost runs paw add --from HOST:AGENT: the new agent is one of this machine.
func (a *invocation) addFromHost(from *pflag.Flag, add func() error) error {
	h, err := a.untold()
	if err != nil {
		return err
	}
	name, word, _ := strings.Cut(from.Value.String(), ":")
	host, err := hostNamed(h, name)
	if err != nil {
		return err
	}
	a.far = &farWork{host: host, words: []string{word}}
	if err := from.Value.Set(""); err != nil {
		return err
	}
	from.Changed = false
	return add()
}

// fetchOrigin fetches the state of a host's agent that new agents of a session start from. It
// returns nil if they start from none.
func (a *invocation) fetchOrigin(cmd *cobra.Command, h *app.App, s *session.Session) (*startplan.Origin, error) {
	if a.far == nil {
		return nil, nil
	}
	far, err := a.reachFar(cmd, h, s.RepoPath)
	if err != nil {
		return nil, err
	}
	return far.Origin(cmd.Context(), h, s)
}

func newFetching(a *invocation) *cobra.Command {
	use := orchestrator.FetchCommand + " HOST DIR"
	return &cobra.Command{Use: use, Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		h, err := a.hookPaw()
		if err != nil {
			return err
		}
		host, client, err := hostAndClient(h, args[0])
		if err != nil {
			return err
		}
		return client.Fetch(cmd.Context(), host, args[1], h.Getenv("GIT_PROTOCOL"), a.stdin, forChild(a.stdout), a.stderr)
	}}
}

// newState packs the states of agents for another machine, which fetches them.
func newState(a *invocation) *cobra.Command {
	var newest bool
	cmd := &cobra.Command{Use: "__state AGENT[@N]...", Hidden: true, RunE: func(cmd *cobra.Command, args []string) error {
		h, s, agents, numbers, err := a.agentsAndTurns(cmd, args)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			agents = app.AgentNames(s)
			numbers = make([]string, len(agents))
		}
		if h, err = h.ConfiguredFor(s); err != nil {
			return err
		}
		var wanted []landing.Wanted
		for i, agent := range agents {
			if slices.Contains(agents[:i], agent) {
				return usagef(cmd, "%s: is there twice", agent)
			}
			wanted = append(wanted, landing.Wanted{Agent: agent, Turn: numbers[i]})
		}
		parcel, err := landing.Pack(cmd.Context(), h, s, wanted, newest)
		if err != nil {
			return err
		}
		return a.printJSON(parcel)
	}}
	cmd.Flags().BoolVar(&newest, "newest", false, "the states that a forecast is about")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

// newOrigin packs the end of a turn for another machine, whose new agents start from it.
func newOrigin(a *invocation) *cobra.Command {
	cmd := &cobra.Command{Use: "__origin AGENT[@N]", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		h, s, from, err := a.originSession(cmd, args[0])
		if err != nil {
			return err
		}
		packed, err := startplan.PackOrigin(cmd.Context(), h, s, from)
		if err != nil {
			return err
		}
		return a.printJSON(packed)
	}}
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

// landingSession finds the session whose landings a command is about: a session of this machine, or
// HOST:SESSION; if there is none, the only session of a host of which work has landed here.
func (a *invocation) landingSession(cmd *cobra.Command) (*app.App, *session.Session, error) {
	name := cmd.Flag("session").Value.String()
	h, err := a.paw()
	if err != nil {
		return nil, nil, err
	}
	if strings.Contains(name, ":") {
		s, err := h.Store.LoadAny(name)
		if err == nil && s == nil {
			err = errs.New(errs.NotFound, "%s: nothing of it has landed here", name).Hint("paw land --list")
		}
		return h, s, h.RecordError(name, err)
	}
	_, s, err := a.session(cmd)
	var none *errs.Error
	if name != "" || !errors.As(err, &none) || none.Kind != errs.NotFound {
		return h, s, err
	}
	far := slices.DeleteFunc(landing.SessionsHere(h), func(s *session.Session) bool { return s.Host == "" })
	if len(far) == 1 {
		return h, far[0], nil
	}
	return h, nil, err
}

// originSession returns the session that agents are added to, and the AGENT[@N] they start from.
func (a *invocation) originSession(cmd *cobra.Command, from string) (*app.App, *session.Session, string, error) {
	if from == "" {
		h, s, err := a.session(cmd)
		return h, s, "", err
	}
	word, number, numbered := strings.Cut(from, "@")
	h, s, agent, err := a.agent(cmd, word)
	if numbered {
		agent += "@" + number
	}
	return h, s, agent, err
}
