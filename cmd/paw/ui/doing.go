package ui

import (
	"fmt"
	"time"
)

// turning are the signs of an agent at work. The sign changes each second while the CLI's record grows.
const turning = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// markOf returns a sign for the agent's group, for terminals without colours.
func (f frame) markOf(a Agent) string {
	switch {
	case a.Runs && f.doing[a.Key()].Last.After(f.now.Add(-stallTime)):
		return string([]rune(turning)[f.now.Unix()%10])
	case a.Asks:
		return "?"
	case a.Group == NeedsYou:
		return "✗"
	case a.Group == ToReview:
		return "✓"
	case a.Group == Working:
		return "▸"
	}
	return " "
}

// stallTime is the time without a word in a CLI's record after which its agent is called stalled.
const stallTime = time.Minute

// stalled reports whether the record of a CLI at work has not grown for a while.
func (f frame) stalled(a Agent) bool {
	last := f.doing[a.Key()].Last
	return a.Runs && !last.IsZero() && f.now.Sub(last) >= stallTime
}

// stateOf returns the state of an agent in words.
func (f frame) stateOf(a Agent) string {
	if d := f.doing[a.Key()]; f.stalled(a) && !d.Tool {
		return "stalled " + Age(f.now.Sub(d.Last))
	}
	return a.State
}

// working draws what an agent at work does, "" where that is unknown.
func (f frame) working(a Agent) string {
	d := f.doing[a.Key()]
	switch {
	case !a.Runs || d.What == "":
		return ""
	case !d.Tool || d.Since.IsZero():
		return f.paint(d.What, dim)
	case f.stalled(a):
		return f.paint(d.What, dim) + f.paint(" · "+ticking(f.now.Sub(d.Since)), yellow)
	}
	return f.paint(d.What+" · "+ticking(f.now.Sub(d.Since)), dim)
}

// ticking returns a duration that changes each second up to an hour, such as 12m05s.
func ticking(d time.Duration) string {
	if d < time.Minute || d >= time.Hour {
		return Age(d)
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}
