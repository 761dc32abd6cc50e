package records

import "paw/session/turn"

// IsOpen reports whether there is a turn whose end is to be found.
func IsOpen(last *turn.Record) bool { return last != nil && last.State == turn.InProgress }
