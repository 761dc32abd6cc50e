package turn

import "strings"

// State is where a turn stands.
type State string

// The states of a turn. Finished and Aborted are final.
const (
	Initial    State = "initial"     // made, nothing is written yet
	InProgress State = "in_progress" // started, the CLI is at work or waits for the user
	Finished   State = "finished"    // the answer is complete
	Aborted    State = "aborted"     // it ended in another way, see Reason
)

// Type is the kind of transition that a turn is: what made the CLI work.
type Type string

// The types that paw itself gives; a script may give any valid one.
const (
	TypePrompt       Type = "prompt"            // somebody typed or sent a prompt
	TypeNotification Type = "task-notification" // the CLI prompted itself, such as at the end of a background task
	TypeMessage      Type = "message"           // another session sent it: nobody typed it here
	TypeStopHook     Type = "stop-hook"         // a hook of the user sent the CLI on after its end
)

// maxType bounds a type in characters: it is part of a file name.
const maxType = 64

// typeLetters are the characters of a type.
const typeLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.-"

// Validate checks that the type begins with a lower-case letter and goes on with lower-case letters, digits, '_', '.'
// and '-', at most 64 in all. The error is a *TypeError.
func (t Type) Validate() error {
	if t == "" || len(t) > maxType || t[0] < 'a' || t[0] > 'z' || strings.Trim(string(t), typeLetters) != "" {
		return &TypeError{Type: t}
	}
	return nil
}

// Reason says why a turn was aborted.
type Reason string

// The reasons that paw itself gives.
const (
	ReasonInterrupted Reason = "interrupted" // by the user, or another prompt began before its end was seen
	ReasonError       Reason = "error"       // the CLI gave up, such as on an error of its model's API
	ReasonCrash       Reason = "crash"       // the CLI or the machine died
	ReasonStopped     Reason = "stopped"     // paw ended the CLI
)
