package cli

import (
	"time"

	"paw/session"
	"paw/session/turn"
)

// Observed is what a CLI's own record says. A process that was killed leaves its record as it was: whether the CLI still
// runs is for the caller to know.
type Observed struct {
	Known    bool // the record says whether the CLI works; without it Busy and Waiting mean nothing
	Busy     bool
	Waiting  bool   // for the user, at a dialog
	Question string // what the dialog asks, as far as known
	Vague    bool   // the record has no more than the kind of the dialog
	// Ended is how the open turn ended: a KindEnd, KindError or KindInterrupt. nil when the record has no end of it.
	Ended *turn.Event
	// Later is what began behind that turn, or behind the last one where none is open, and how it ended, in its order and
	// as far as no hook reports it: KindPrompts, each with its end behind it if it has one.
	Later []turn.Event
	// Joined is the prompt that the open turn took last, where it waited and the model has said nothing to it yet: what is
	// reported of it now begins no turn.
	Joined string
	// Working are the conversations that work for the open turn, of a CLI that has several at work at a time.
	Working []string
	// Live says that a living process keeps the record: it counts also where a hook is newer.
	Live bool
	// Windows are what the CLI told last of the limits of its subscription.
	Windows []session.Window
	// Elsewhere is the folder in which the CLI works, where that is outside of the agent's worktree.
	Elsewhere string
	Away      int            // process outside of the agent's pane that has the conversation, 0 where the pane has it
	At        time.Time      // since when it is so; of the end when there is one and the CLI rests
	Source    session.Source // record (what the CLI keeps of its processes) or transcript
}

// AtWork reports whether the record says that the CLI works, or that it waits for the user.
func (o Observed) AtWork() bool { return o.Known && (o.Busy || o.Waiting) }

// Ready says how to know that a CLI takes typed input: each of Event and Box that is set has to hold. Without them
// nothing tells.
type Ready struct {
	Event  bool          // its first KindSessionStart tells
	Box    bool          // CLI.Screen knows its input box: nothing is typed before that is seen empty
	Silent bool          // that the box is empty again is all that tells that the CLI, while it works, keeps a prompt for later
	Steady time.Duration // how long the box of a CLI that was just launched must stay empty before it is taken for one that reads
	Settle time.Duration // to let pass between a paste and Enter
	// Clear is a key, by its tmux name, that takes a line, or more, out of the input box, and does nothing at all to an
	// empty one. "" where none does.
	Clear string
}
