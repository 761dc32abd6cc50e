package turn

// The events of a log, each of them one call of Turn.
const (
	eventStart    = "START"
	eventExecute  = "EXECUTE"
	eventInput    = "INPUT"
	eventLimit    = "LIMIT"
	eventChildren = "CHILDREN"
	eventNote     = "NOTE"
	eventHold     = "HOLD"
	eventEnd      = "END"
	eventAbort    = "ABORT"
)

// transitions is the whole state machine: what is not in it is a *TransitionError.
var transitions = map[State]map[string]State{
	Initial: {eventStart: InProgress},
	InProgress: {
		eventExecute:  InProgress,
		eventInput:    InProgress,
		eventLimit:    InProgress,
		eventChildren: InProgress,
		eventNote:     InProgress,
		eventHold:     InProgress,
		eventEnd:      Finished,
		eventAbort:    Aborted,
	},
	// What is found out later, such as a tag that had to be made again, is noted.
	Finished: {eventNote: Finished},
	Aborted:  {eventNote: Aborted},
}

func next(from State, event string) (State, bool) {
	to, ok := transitions[from][event]
	return to, ok
}
