package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
)

// hostFeeds follows hosts for the desk. For each host it keeps an ssh process that runs paw status
// --watch --json there.
type hostFeeds struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
	news   chan<- struct{} // receives a value when a host has answered

	mu      sync.Mutex
	answers []hosts.Answer
	fresh   bool
}

// feedPauses are the pauses before another try to reach a lost host; the last one repeats.
var feedPauses = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}

// followHosts starts to follow the hosts that have a checkout of the current repository, or with
// all every host.
func followHosts(h *app.App, all bool, news chan<- struct{}) *hostFeeds {
	f := &hostFeeds{cancel: func() {}, news: news}
	places := placesOf(h, all)
	if len(places) == 0 {
		return f
	}
	client, err := sshClient(h)
	if err != nil {
		f.answers = []hosts.Answer{{Host: places[0].Name, Err: err}}
		return f
	}
	var ctx context.Context
	ctx, f.cancel = context.WithCancel(context.Background())
	f.answers = make([]hosts.Answer, len(places))
	for i, p := range places {
		f.answers[i] = client.Last(p)
		f.answers[i].Err = &hosts.NotReached{Host: p.Name, Connecting: true}
		f.ended.Go(func() { f.follow(ctx, client, p, i, h.Now) })
	}
	return f
}

// follow follows one host until the desk ends.
func (f *hostFeeds) follow(ctx context.Context, client hosts.Client, p hosts.Place, i int, now func() time.Time) {
	for lost := 0; ctx.Err() == nil; lost++ {
		err := client.Follow(ctx, p, now, func(told hosts.Answer) {
			lost = 0
			f.set(i, told)
		})
		f.mu.Lock()
		last := f.answers[i]
		f.mu.Unlock()
		last.Err = err
		f.set(i, last)
		select {
		case <-ctx.Done():
		case <-time.After(feedPauses[min(lost, len(feedPauses)-1)]):
		}
	}
}

func (f *hostFeeds) set(i int, told hosts.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[i], f.fresh = told, true
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// now returns the last answer of each host.
func (f *hostFeeds) now() []hosts.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh = false
	return append([]hosts.Answer{}, f.answers...)
}

// changed reports whether a host has answered since the last call of now.
func (f *hostFeeds) changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fresh
}

// close ends the ssh processes.
func (f *hostFeeds) close() {
	f.cancel()
	f.ended.Wait()
}

// attachThere shows the pane of an agent HOST:SESSION/AGENT in this terminal.
func attachThere(ctx context.Context, h *app.App, name string) error {
	host, agent, _ := strings.Cut(name, ":")
	known, there := h.Config.Hosts[host]
	if !there {
		return unknownHost(h, host)
	}
	client, err := sshClient(h)
	if err != nil {
		return err
	}
	err = endedThere(client.Screen(ctx, hosts.Host{Name: host, Host: known}, hosts.NewRequest("", "attach", agent), os.Stdin, os.Stdout, os.Stderr))
	var ended exitStatus
	if errors.As(err, &ended) {
		return errs.New(errs.Failed, "%s: could not be shown", name).Hint("paw status")
	}
	return err
}
