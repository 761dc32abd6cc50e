package cli

import "paw/session/history"

// Transcript is one conversation as the CLI's own record has it, in the order of the conversation.
//
// What a user typed and what the model said are user and assistant messages. The CLI's own words, such as an error of the
// API, the mark of an interrupt or a prompt that the CLI gave itself, are system messages; instructions and context that
// it adds for the model are none. A tool call has its result behind it; one that was cut off has none.
type Transcript struct {
	ID       string
	Messages []history.Message
	Skipped  int // lines and records that were not understood, and may have been messages
	// Unknown are the types of records that paw has never seen and that hold no message, with how many there are of each:
	// nothing that was said is missing, but a new version of the CLI writes something new.
	Unknown map[string]int
}
