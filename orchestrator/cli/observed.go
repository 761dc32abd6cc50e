package cli

import (
	"time"

	"paw/session"
	"paw/session/turn"
)

// Observed is what a CLI's own record says about a conversation. The record of a killed process
// stays as it was: the caller has to find out whether the CLI still runs.
type Observed struct {
	Known    bool // the record says whether the CLI works; else Busy and Waiting have no meaning
	Busy     bool
	Waiting  bool   // the CLI waits for the user, at a dialog
	Question string // text of the dialog, as far as the record has it
	Vague    bool   // the record has only the kind of the dialog
	Late     bool   // the record gets the answer to a dialog only when what was allowed has ended
	// Ended tells how the open turn ended (KindEnd, KindError or KindInterrupt), nil when the
	// record has no end of it.
	Ended *turn.Event
	// Later has the turns that began after the open one, or after the last one where none is open,
	// and that no hook reports: a KindPrompt each, followed by its end if it has one.
	Later []turn.Event
	// Joined is a prompt that the open turn took while it ran and that the model has not answered
	// yet: a hook that reports this prompt now begins no turn.
	Joined string
	// Working lists the conversations that work for the open turn, of a CLI that runs several at a
	// time.
	Working []string
	// Live means that a running process keeps the record up to date: it is right also where a hook
	// is newer.
	Live bool
	// Windows has the limits of the subscription as the CLI last told them.
	Windows []session.Window
	// Elsewhere is the folder in which the CLI works when that is outside of the agent's worktree,
	// else "".
	Elsewhere string
	Away      int            // pid of a process outside of the agent's pane that has the conversation, 0 for none
	At        time.Time      // time of the end if the turn ended and the CLI rests, else since when the state holds
	Source    session.Source // record (what the CLI keeps about its processes) or transcript
}

// AtWork reports whether the record says that the CLI works or waits for the user.
func (o Observed) AtWork() bool { return o.Known && (o.Busy || o.Waiting) }

// Ready lists the signs by which a CLI shows that it takes typed input: each of Event and Box that
// is set has to hold. With neither, there is no sign.
type Ready struct {
	Event  bool          // the first KindSessionStart is a sign
	Box    bool          // CLI.Screen recognizes the input box: nothing is typed before the box is seen empty
	Silent bool          // the only sign that a working CLI has queued a prompt is that the box is empty again
	Steady time.Duration // how long the box of a fresh launch must stay empty before the CLI is taken to read keys
	Settle time.Duration // pause between a paste and Enter
	// Clear is a key, by its tmux name, that deletes a line or more of the input box and does
	// nothing to an empty one; "" where there is no such key.
	Clear string
}
