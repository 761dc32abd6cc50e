package queue

import (
	"strings"

	"paw/session"
)

// whyWords are the reasons that are one word in a queue's file, for people.
var whyWords = map[string]string{
	session.HeldYou: "by you", session.HeldInterrupted: "cut short, may have been typed", session.HeldSilent: "its CLI has not reported yet",
	"busy": "agent at work", session.WaitsRunning: "enough agents run", session.WaitsCI: "checks of its request", "max": "enough at work", "question": "agent waits for you", "starts": "no start is left", "stop": "session was stopped",
}

// WhyInWords returns why a task is in its state, for people; "" where the state says it. --json and the
// queue's file have the reason as programs compare it.
func WhyInWords(t session.Task) string {
	if t.State == session.TaskWaiting && t.Why == "" {
		return "about to begin"
	}
	if words, known := whyWords[t.Why]; known {
		return words
	}
	kind, what, _ := strings.Cut(t.Why, ":")
	switch kind {
	case "limit":
		cli, until, known := strings.Cut(what, " until ")
		if known {
			return "until " + until + ": usage limit of " + cli
		}
		return "usage limit of " + cli
	case "breaker":
		return "starts of " + what + " came to nothing"
	case "after":
		if task, how, over := strings.Cut(what, " "); over {
			return task + " " + wasOver(how)
		}
		return "after " + what
	}
	if string(t.State) == t.Why {
		return ""
	}
	return t.Why
}

func wasOver(state string) string {
	if state == string(session.TaskDropped) {
		return "was dropped"
	}
	return state
}
