package ui

import (
	"cmp"
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// How often the watcher looks. The more a Look costs, the rarer it is, so that an idle desk takes
// next to no time.
const (
	beat        = 500 * time.Millisecond // between two calls of Changed
	soonest     = time.Second            // shortest time between two Looks without a change
	latest      = 10 * time.Second
	restingCost = 500 // a Look without a change comes after this many times the duration of the last Look
	busyCost    = 8   // a Look with a change comes after at least this many times that duration
	fastScreen  = 300 * time.Millisecond
	slowScreen  = 4 * time.Second // longest time between two pictures of a pane; a key or new work of the agent ends it early
)

// watcher reads what the desk shows, and sends the desk what is new.
type watcher struct {
	paw  Paw
	send func(tea.Msg)
	now  func() time.Time
	news <-chan struct{} // Options.News

	mu     sync.Mutex
	wanted wanted
	poked  chan struct{}
	busy   chan struct{} // receives while wanted has agents at work
}

// wanted is what the watcher has to read for the current picture, beside the list.
type wanted struct {
	screen  Agent   // the agent whose pane is shown; without Pane, none is
	working []Agent // the agents of rows whose CLI is at work
	rows    []Agent // the agents that are seen in the list
	seconds bool    // the picture has a time that changes every second
}

// want tells the watcher what is shown, and wakes the watcher if another agent, pane or Mark is
// shown.
func (w *watcher) want(now wanted) {
	w.mu.Lock()
	was := w.wanted.screen
	changed := was.Key() != now.screen.Key() || was.Pane != now.screen.Pane || was.Mark != now.screen.Mark
	w.wanted = now
	w.mu.Unlock()
	if changed {
		w.poke()
	}
	if len(now.working) > 0 {
		wake(w.busy)
	}
}

func (w *watcher) poke() { wake(w.poked) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (w *watcher) shown() wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wanted
}

// look makes one Look, and returns how long it took.
func (w *watcher) look(ctx context.Context) (boardMsg, time.Duration) {
	begun := w.now()
	board, err := w.paw.Look(ctx)
	now := w.now()
	return boardMsg{board, err, now}, now.Sub(begun)
}

// lookOn repeats the Look: soon after Changed reports true and, since paw does not write every
// change, from time to time without.
func (w *watcher) lookOn(ctx context.Context, cost time.Duration) {
	last, clock := w.now(), w.now()
	for w.listen(ctx) {
		now := w.now()
		since := now.Sub(last)
		rest := min(max(cost*restingCost, soonest), latest)
		if since < rest && (since < cost*busyCost || !w.paw.Changed()) {
			if now.Sub(clock) >= latest || now.Sub(clock) >= time.Second && w.shown().seconds {
				clock = now
				w.send(clockMsg(now))
			}
			continue
		}
		var board boardMsg
		board, cost = w.look(ctx)
		if ctx.Err() != nil {
			return
		}
		last, clock = board.now, board.now
		w.send(board)
	}
}

// listen waits for news, at most one beat, and returns false when ctx has ended.
func (w *watcher) listen(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.news:
	case <-time.After(beat):
	}
	return true
}

// screens sends the pane of the selected agent, often while it changes and seldom while it does
// not.
func (w *watcher) screens(ctx context.Context) {
	every, last := fastScreen, screenMsg{}
	for {
		if a := w.shown().screen; a.Pane != "" {
			next := screenMsg{key: a.Key()}
			text, err := w.paw.Screen(ctx, a)
			if next.text = text; err != nil {
				next.why = display.FirstLine(err.Error())
			}
			if every = min(every*5/4, slowScreen); next != last {
				if ctx.Err() != nil {
					return
				}
				w.send(next)
				every, last = fastScreen, next
			}
		} else {
			every = slowScreen
		}
		select {
		case <-ctx.Done():
			return
		case <-w.poked:
			every = fastScreen
		case <-time.After(every):
		}
	}
}

// follow sends, each second, what the CLIs of the rows on the screen do that are in a turn. While there are
// none, it waits without a timer.
func (w *watcher) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.busy:
		}
		begun := w.now()
		doing := w.paw.Doing(ctx, w.shown().working)
		if ctx.Err() != nil {
			return
		}
		now := w.now()
		w.send(doingMsg{doing, now})
		pause(ctx, max(time.Second, now.Sub(begun)*busyCost))
	}
}

// forecast forecasts the sessions of the agents that are seen, whenever a forecast may have changed. One
// session is done per beat, since it costs processes.
func (w *watcher) forecast(ctx context.Context) {
	outlooks := map[string]string{}
	for pause(ctx, beat) {
		lands, sessions := map[string]string{}, []string{}
		for _, a := range w.shown().rows {
			if _, there := lands[a.Session]; !there {
				sessions = append(sessions, a.Session)
			}
			lands[a.Session] += a.Name + cmp.Or(a.Lands, a.Ended) + " "
		}
		for _, session := range sessions {
			if outlooks[session] == lands[session] || ctx.Err() != nil {
				continue
			}
			outlooks[session] = lands[session]
			if found, err := w.paw.Forecasts(ctx, session); err == nil {
				w.send(outlookMsg{session, found})
			}
			break
		}
	}
}

// pause waits for d, and returns false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
