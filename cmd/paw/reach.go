package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

// sshClient returns a client that runs the ssh in the user's PATH.
func sshClient(h *app.App) (hosts.Client, error) {
	path, err := cli.LookPath("ssh", h.Env)
	if err != nil {
		return hosts.Client{}, errs.New(errs.Missing, "ssh: is not installed").Hint("apt-get install openssh-client")
	}
	return hosts.Client{Path: path, Env: h.Env, Sockets: hosts.SocketsIn(h.Getenv("XDG_RUNTIME_DIR")), State: h.Paths.HostsDir()}, nil
}

// unknownHost returns the error for a name that no host has.
func unknownHost(h *app.App, name string) error {
	e := errs.New(errs.NotFound, "%s: no such host", name)
	if near := config.Nearest(name, slices.Sorted(maps.Keys(h.Config.Hosts))); near != "" {
		e.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return e.Hint("paw host list")
}

// reachPatience limits the time a command waits for the connection to a host.
const reachPatience = 20 * time.Second

// reach connects to a host, and says so if that takes longer than a second.
func (a *invocation) reach(ctx context.Context, client hosts.Client, host hosts.Host) error {
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	slow := time.AfterFunc(time.Second, func() {
		if !a.json {
			fmt.Fprintf(a.stderr, "connecting to %s\n", host.Name)
		}
	})
	defer slow.Stop()
	return client.Reach(ctx, host)
}

// endedThere converts the exit code of a command on a host to an error. The host has printed its
// own error already.
func endedThere(code int, err error) error {
	var lost *hosts.NotReached
	switch {
	case errors.As(err, &lost) && lost.TooOld != "":
		return errs.New(errs.Missing, "%w", lost).Hint("paw host add %s %s --install", lost.Host, errs.Quote(lost.TooOld))
	case errors.As(err, &lost):
		return errs.New(errs.Failed, "%w", lost).Hint("paw host doctor %s", lost.Host)
	case err != nil:
		return err
	case code != 0:
		return exitStatus(code)
	}
	return nil
}
