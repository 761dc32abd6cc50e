package orchestrator

import (
	"time"

	"paw/session"
)

// limitWord says until when an agent is limited, in the user's time, with the day where that is not the one on which it was
// reached.
func limitWord(st session.AgentStatus) string {
	until := st.Limit.Until.Local()
	switch {
	case st.Limit.Until.IsZero():
		return "limited"
	case st.Since != nil && st.Since.Local().Format(time.DateOnly) == until.Format(time.DateOnly):
		return "limited until " + until.Format("15:04")
	}
	return "limited until " + until.Format("2 Jan 15:04")
}
