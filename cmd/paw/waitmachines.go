package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/orchestrator/live"
	"paw/session"
)

type machineWait struct {
	host   *hosts.Host // nil for this machine
	folder string      // checkout of the repository on the host
	agents []string    // names without HOST:; empty for all agents of the repository's session
	name   string      // session on the host, "" if none is named

	waited *children.Waited // result, nil for none
	err    error            // why there is no result
}

// waitsOf divides the words of paw wait among machines. Without words it returns waits for this
// machine and for all hosts with the repository; if an agent asks, only the wait for its children.
func waitsOf(cmd *cobra.Command, h *app.App, words []string, inSession string) ([]machineWait, error) {
	if host, name, far := strings.Cut(inSession, ":"); far {
		one, err := waitOn(cmd, h, host)
		one.agents, one.name = words, name
		for i := range one.agents {
			one.agents[i] = unprefixed(host, one.agents[i])
		}
		return []machineWait{one}, err
	}
	var waits []machineWait
	switch {
	case len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, ":") }):
		return []machineWait{{agents: words}}, nil
	case len(words) == 0 && (inSession != "" || h.Getenv("PAW_AGENT") != ""):
		return []machineWait{{}}, nil
	case len(words) == 0:
		waits = append(waits, machineWait{})
		for _, p := range placesOf(h, false) {
			waits = append(waits, machineWait{host: &p.Host, folder: p.Dir})
		}
		return waits, nil
	}
	for _, one := range agentsIn(h, cmd, words) {
		i := slices.IndexFunc(waits, func(w machineWait) bool {
			return w.host == nil && one.host == "" || w.host != nil && w.host.Name == one.host
		})
		if i < 0 {
			next := machineWait{}
			if one.host != "" {
				var err error
				if next, err = waitOn(cmd, h, one.host); err != nil {
					return nil, err
				}
			}
			i, waits = len(waits), append(waits, next)
		}
		waits[i].agents = append(waits[i].agents, one.word)
	}
	return waits, nil
}

func waitOn(cmd *cobra.Command, h *app.App, name string) (machineWait, error) {
	host, err := hostNamed(h, name)
	if err != nil {
		return machineWait{}, err
	}
	dir, err := folderThere(cmd, h.Root(), host)
	return machineWait{host: &host, folder: dir}, err
}

// waitHere waits for agents of this machine.
type waitHere func(ctx context.Context, agents []string) (*children.Waited, error)

// waitEverywhere waits on several machines at once, and joins the results. It ends with the first
// agent that has a question, or with --any that has finished.
func (o *waitOptions) waitEverywhere(ctx context.Context, h *app.App, waits []machineWait, here waitHere) (*children.Waited, error) {
	client, err := sshClient(h)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan *machineWait)
	for i := range waits {
		go func() {
			w := &waits[i]
			if w.host != nil {
				w.waited, w.err = o.waitThere(within, client, *w)
			} else if w.waited, w.err = here(within, w.agents); w.waited != nil {
				w.err = nil // together judges the results of all machines
			}
			ended <- w
		}()
	}
	for range waits {
		if w := <-ended; w.enough(o.WaitOptions) {
			cancel()
		}
	}
	if ctx.Err() != nil {
		return nil, errs.New(errs.Interrupted, "interrupted")
	}
	return together(waits, o.WaitOptions)
}

// enough reports whether the result for one machine ends the waits for the others.
func (w *machineWait) enough(o children.WaitOptions) bool {
	if w.waited == nil {
		return w.err != nil && !w.nobody()
	}
	return slices.ContainsFunc(w.waited.Agents, func(a children.Awaited) bool {
		return a.Finished && o.Any || !a.Finished && a.Status.State == session.StateWaitingInput
	})
}

// nobody reports whether the wait was for all agents of a machine, and the machine has no session of
// this repository.
func (w *machineWait) nobody() bool {
	var refused *hosts.Refusal
	return len(w.agents) == 0 && w.name == "" && (exitCode(w.err) == int(errs.NotFound) || errors.As(w.err, &refused) && refused.Code == int(errs.NotFound))
}

// together joins the results of all machines, in the order in which the machines were named.
func together(waits []machineWait, o children.WaitOptions) (*children.Waited, error) {
	whole := &children.Waited{Anybody: len(o.Agents) == 0}
	var failed, nobody error
	for i := range waits {
		one := &waits[i]
		var refused *hosts.Refusal
		switch {
		case one.waited != nil:
			whole.Session = cmp.Or(whole.Session, one.waited.Session)
			whole.Agents = append(whole.Agents, one.waited.Agents...)
		case one.nobody():
			nobody = cmp.Or(nobody, one.err)
		case errors.As(one.err, &refused):
			e := errs.New(errs.Kind(refused.Code), "%s", refused.Error())
			for _, hint := range refused.Hints {
				e = e.Hint("%s", one.host.Here(hint))
			}
			failed = cmp.Or(failed, error(e))
		case !errors.Is(one.err, context.Canceled) && exitCode(one.err) != int(errs.Interrupted):
			failed = cmp.Or(failed, one.err)
		}
	}
	if len(whole.Agents) == 0 {
		return nil, cmp.Or(failed, nobody)
	}
	err := whole.Verdict(o)
	if failed != nil && (err == nil || exitCode(err) == int(errs.AgentFailed)) {
		err = failed
	}
	return whole, err
}

// waitPauses are the pauses before another try to reach a lost host; the last one repeats.
var waitPauses = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// timeoutGrace is added to --timeout on this machine, because the paw on the host reports the
// time-out itself.
const timeoutGrace = time.Second

// waitThere waits for agents of a host. If the host is lost, it asks again until the time-out:
// silence says nothing about the agents.
func (o *waitOptions) waitThere(ctx context.Context, client hosts.Client, w machineWait) (*children.Waited, error) {
	words := slices.Clone(w.agents)
	if w.name != "" {
		words = append(words, "--session", w.name)
	}
	if o.Any {
		words = append(words, "--any")
	}
	began := time.Now()
	within := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, o.Timeout+timeoutGrace)
		defer cancel()
	}
	for lost := 0; ; lost++ {
		err := o.reach(within, client, *w.host)
		if err == nil {
			left := words
			if o.Timeout > 0 {
				left = append(slices.Clone(words), "--timeout", max(o.Timeout-time.Since(began), time.Millisecond).String())
			}
			var waited hosts.Said
			if waited, err = client.Wait(within, *w.host, w.folder, left...); err == nil {
				return awaitedThere(w.host.Name, waited), nil
			}
		}
		var away *hosts.NotReached
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case within.Err() != nil:
			return nil, errs.New(errs.Timeout, "%s: not finished after %s", w.host.Name, o.Timeout.Round(time.Millisecond)).Hint("paw status")
		case !errors.As(err, &away):
			return nil, err
		case away.TooOld != "":
			return nil, endedThere(0, err)
		case lost == 0:
			o.note(away.Error() + "; asking again")
		}
		poll.Sleep(within, waitPauses[min(lost, len(waitPauses)-1)])
	}
}

func awaitedThere(host string, said hosts.Said) *children.Waited {
	waited := &children.Waited{Session: session.FarName(host, said.Text("session"))}
	for _, one := range said.List("agents") {
		waited.Agents = append(waited.Agents, children.Awaited{
			Host: host, Session: said.Text("session"), Finished: one.Yes("finished"), Status: stateThere(one),
			Result: live.Result{
				Agent: one.Text("name"), CLI: one.Text("cli"), Branch: one.Text("branch"), Turn: one.Number("turn"), Outcome: one.Text("outcome"),
				Failed: one.Yes("failed"), Files: one.Count("files_changed"), Message: one.Lines("message"),
			},
		})
	}
	return waited
}
