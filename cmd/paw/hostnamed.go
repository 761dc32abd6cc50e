package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

// refuseHost returns the error for HOST:AGENT if there are hosts and that is none of them, and no session either.
func (q question) refuseHost(word string) error {
	name, _, far := strings.Cut(word, ":")
	if !far || len(q.Config.Hosts) == 0 {
		return nil
	}
	if s, err := q.Store.Load(name); s != nil || err != nil {
		return nil //nolint:nilerr // whoever uses the session says what is wrong with it
	}
	_, err := hostNamed(q.App, name)
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Instead.By == "" {
		e.Message += ", and no such session"
		return e.Hint("paw status --all")
	}
	return err
}

// hostNamed returns a host of the configuration.
func hostNamed(h *app.App, name string) (hosts.Host, error) {
	if known, there := h.Config.Hosts[name]; there {
		return hosts.Host{Name: name, Host: known}, nil
	}
	e := errs.New(errs.NotFound, "%s: no such host", name)
	if near := config.Nearest(name, slices.Sorted(maps.Keys(h.Config.Hosts))); near != "" {
		e.Message += fmt.Sprintf(" (did you mean %s?)", near)
		e.Instead = errs.Instead{Of: name + ":", By: near + ":"}
	}
	return hosts.Host{}, e.Hint("paw host list")
}
