package acp

import (
	"context"
	"time"

	"paw/config/poll"
)

// What gemini 0.61.0 needs to open a conversation again. Any other agent needs nothing.
const gemini = "gemini-cli"

// options keep gemini from deleting the conversation: at its start it deletes what it takes for broken, and a conversation that was
// opened again has a second file without a message.
func (s Session) options() []string {
	if s.Agent != gemini {
		return nil
	}
	return []string{"--resume", s.ID}
}

// noSession is gemini's exit code where there is no such conversation, as after an Esc in the first turn.
const noSession = 42

// refused reports whether gemini has ended because it cannot open the conversation.
func (s Session) refused(code int) bool { return s.Agent == gemini && code == noSession }

// awaitMinute waits until the minute is over in which the conversation began, or gemini has ended. gemini names the file after the
// minute, and begins it anew where it opens the conversation in the same one.
func (s Session) awaitMinute(ended <-chan struct{}) {
	if rest := time.Until(s.Began.Truncate(time.Minute).Add(time.Minute)); s.Agent == gemini {
		select {
		case <-time.After(rest):
		case <-ended:
		}
	}
}

// repeats is how long gemini may repeat a conversation after it has said that it is open.
const repeats = time.Second

// awaitRepeated waits until what gemini repeats cannot be taken for an answer.
func (s Session) awaitRepeated(ctx context.Context) {
	if s.Agent == gemini {
		poll.Sleep(ctx, repeats)
	}
}
