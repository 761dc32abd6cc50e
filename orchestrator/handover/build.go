package handover

import "math"

// cuts are how many bytes of a text may stay, from one try to the next.
var cuts = []int{math.MaxInt, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10, 512, 256, 128, 64, 0}

// Build writes the brief and tells how many of the messages are in it. It
// has at most Limit bytes, and Prompt whole.
//
// Of a conversation that is too long, first the results of tools are cut, all at
// the same length; then the oldest messages are left out, but not the first
// prompt, the last one and the last answer; then these are cut.
func Build(b Brief) (text string, told int) {
	parts := parts(b)
	head, foot := b.head(), b.foot()
	room := b.Limit - len(head) - len(foot)
	for _, most := range cuts {
		if told := tell(parts, most, math.MaxInt); len(told) <= room {
			return head + told + foot + b.Prompt, len(parts)
		}
	}
	parts = dropOldest(parts, room)
	for _, p := range parts {
		if p.gap == 0 {
			told++
		}
	}
	for _, most := range cuts {
		if text := tell(parts, 0, most); len(text) <= room {
			return head + text + foot + b.Prompt, told
		}
	}
	return head + foot + b.Prompt, 0
}

// dropOldest leaves out the oldest messages until the rest fits without any
// results. A gap stands for each run of them.
func dropOldest(parts []part, room int) []part {
	const gaps = 3 * 64 // bytes for as many as there can be
	left := gaps + len(tell(parts, 0, math.MaxInt))
	var kept []part
	for _, p := range parts {
		if left <= room || p.keep {
			kept = append(kept, p)
			continue
		}
		left -= len(p.tell(0, math.MaxInt))
		if n := len(kept); n > 0 && kept[n-1].gap > 0 {
			kept[n-1].gap++
		} else {
			kept = append(kept, part{gap: 1})
		}
	}
	return kept
}
