package ui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// told is a Paw whose Changed reports true after a test has set fresh.
type told struct {
	played
	fresh bool
	looks []time.Time
}

func (p *told) Changed() bool { return p.fresh }
func (p *told) Look(context.Context) (Board, error) {
	p.fresh, p.looks = false, append(p.looks, time.Now())
	return Board{}, nil
}

// TestNewsAreShownAtOnce sends news in the middle of a beat: the watcher looks at once, and then
// not earlier than usual.
func TestNewsAreShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, news := &told{}, make(chan struct{}, 1)
		w := &watcher{paw: p, now: time.Now, news: news, send: func(tea.Msg) {}}
		ctx, leave := context.WithCancel(t.Context())
		began := time.Now()
		go w.lookOn(ctx, 0)
		time.Sleep(beat / 5)
		synctest.Wait()
		p.fresh = true
		news <- struct{}{}
		synctest.Wait()
		if len(p.looks) != 1 || p.looks[0].Sub(began) != beat/5 {
			t.Errorf("it looked at %v, after it began at %s", p.looks, began)
		}
		time.Sleep(beat)
		synctest.Wait()
		if len(p.looks) != 1 {
			t.Errorf("it looked again without news: %v", p.looks)
		}
		leave()
		synctest.Wait()
	})
}
