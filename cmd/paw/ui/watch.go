package ui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// How often the watcher looks. A look that costs more is made less often, so that a desk at rest takes next to nothing.
const (
	beat        = 500 * time.Millisecond // between two questions whether something was written down
	soonest     = time.Second            // between two looks when nothing was
	latest      = 10 * time.Second
	restingCost = 500 // a desk at rest looks for one part in so many of the time
	busyCost    = 8   // one that something happens to
	fastScreen  = 300 * time.Millisecond
	slowScreen  = 4 * time.Second // of an agent of which nothing is heard: what its turns report wakes the watcher
)

// watcher looks at what the desk shows, and tells the desk what is new.
type watcher struct {
	paw  Paw
	send func(tea.Msg)
	now  func() time.Time
	news <-chan struct{} // as in Options

	mu     sync.Mutex
	wanted wanted
	poked  chan struct{}
}

// wanted is what the desk shows now, beside the list.
type wanted struct {
	screen  Agent   // whose pane; without a name none is shown
	rows    []Agent // that are seen
	seconds bool    // something is shown that changes with each second
}

// want tells the watcher what is shown.
func (w *watcher) want(now wanted) {
	w.mu.Lock()
	was := w.wanted.screen
	changed := was.Key() != now.screen.Key() || was.Pane != now.screen.Pane || was.Mark != now.screen.Mark
	w.wanted = now
	w.mu.Unlock()
	if changed {
		w.poke()
	}
}

func (w *watcher) poke() {
	select {
	case w.poked <- struct{}{}:
	default:
	}
}

func (w *watcher) shown() wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wanted
}

// look looks at all agents once.
func (w *watcher) look(ctx context.Context) (boardMsg, time.Duration) {
	begun := w.now()
	board, err := w.paw.Look(ctx)
	now := w.now()
	return boardMsg{board, err, now}, now.Sub(begun)
}

// lookOn looks at all agents again and again: soon after something was written down, and from time to time, since not
// everything is.
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

// listen waits for news, for one beat at most; it reports false when there is nothing to wait for any more.
func (w *watcher) listen(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.news:
	case <-time.After(beat):
	}
	return true
}

// screens shows the selected agent's pane, often while it changes and seldom while it does not.
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

// count counts the lines of the agents that are seen, and forecasts for their sessions, whenever their work has changed:
// one thing at a time, since it costs processes of git.
func (w *watcher) count(ctx context.Context) {
	lines, outlooks := map[string]string{}, map[string]string{}
	for pause(ctx, beat) {
		rows := w.shown().rows
		for _, a := range rows {
			if lines[a.Key()] == a.Mark || ctx.Err() != nil {
				continue
			}
			lines[a.Key()] = a.Mark
			if counted, err := w.paw.Lines(ctx, a); err == nil {
				w.send(linesMsg{a.Key(), counted})
			}
			break
		}
		ended, sessions := map[string]string{}, []string{}
		for _, a := range rows {
			if _, there := ended[a.Session]; !there {
				sessions = append(sessions, a.Session)
			}
			ended[a.Session] += a.Name + a.Ended + " "
		}
		for _, session := range sessions {
			if outlooks[session] == ended[session] || ctx.Err() != nil {
				continue
			}
			outlooks[session] = ended[session]
			if found, err := w.paw.Forecasts(ctx, session); err == nil {
				w.send(outlookMsg{session, found})
			}
			break
		}
	}
}

// pause waits; it reports false when there is nothing to wait for any more.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
