package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/session"
)

// refuseHost returns the error for HOST:AGENT that is of no host, as SESSION:AGENT is.
func (q question) refuseHost(word string) error {
	name, agent, far := strings.Cut(word, ":")
	if !far || session.ValidateName("session", name) != nil || strings.ContainsAny(agent, " \n") {
		return nil //nolint:nilerr // a text, and no name
	}
	if s, err := q.Store.Load(name); err == nil && s != nil && agent != "" {
		e := errs.New(errs.NotFound, "%s: no such host; an agent of the session is %[1]s/%s", name, agent)
		word, _, _ = strings.Cut(word, "@")
		e.Instead = errs.Instead{Of: word, By: strings.Replace(word, ":", "/", 1)}
		return e
	}
	_, err := hostNamed(q.App, name)
	return err
}

// hostNamed returns a host of the configuration.
func hostNamed(h *app.App, name string) (hosts.Host, error) {
	if known, there := h.Config.Hosts[name]; there {
		return hosts.Host{Name: name, Host: known}, nil
	}
	e := errs.New(errs.NotFound, "%s: no such host", name)
	if slices.ContainsFunc(h.Config.Ignored, func(key string) bool { return strings.HasPrefix(key, "hosts."+name+".") }) {
		e.Message += " (that of the repository is left out: a repository has no say in it)"
	}
	if near := config.Nearest(name, slices.Sorted(maps.Keys(h.Config.Hosts))); near != "" {
		e.Message += fmt.Sprintf(" (did you mean %s?)", near)
		e.Instead = errs.Instead{Of: name, By: near}
	}
	return hosts.Host{}, e.Hint("paw host list")
}
