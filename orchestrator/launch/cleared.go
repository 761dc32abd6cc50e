package launch

import (
	"slices"

	"paw/session/turn"
)

// cleared reports whether the newest conversation of an agent is one that the user began, as with /clear, and in which
// nothing was said yet, while there were turns in an earlier one: going on with that would undo the clearing. Of
// conversations, newest last, the newest is one that the CLI cannot resume.
func cleared(conversations []string, turns []turn.Record) bool {
	if len(conversations) < 2 {
		return false
	}
	newest := conversations[len(conversations)-1]
	earlier := false
	for _, one := range turns {
		if one.Conversation == newest || one.Conversation == "" {
			return false // it was used, and is lost; or nobody knows
		}
		earlier = earlier || slices.Contains(conversations, one.Conversation)
	}
	return earlier
}
