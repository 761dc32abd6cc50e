package cli

import (
	"strings"
	"time"

	"paw/config/lazyregexp"
)

// Question is what a CLI asks in a turn, as its screen shows it.
type Question struct {
	Text    string   // in one line, such as "asks for permission: npm test"
	Options []Option // all that can be seen, in their order
	// Deaf is for how long after it was asked the CLI takes no keys.
	Deaf time.Duration
	// Confirms says that it is asked about an answer that was just given, which counts only after this one.
	Confirms bool
	// Paged says that it is one of several that are asked one after the other: all of them are asked once.
	Paged bool
	// Onward and Back are the keys that select the next option and the one before; Enter takes the selected one. "" where
	// each option has a key.
	Onward, Back string
}

// Option is one answer that a question offers.
type Option struct {
	Label    string // as the CLI shows it, without its number
	About    string // what the CLI adds below, "" for nothing
	Key      string // that takes it at once, as tmux names keys; "" where it has to be selected first
	Selected bool
}

// Meaning is what an option says, in one word for all CLIs.
type Meaning string

// The meanings of options.
const (
	MeansYes    Meaning = "yes"    // this once
	MeansAlways Meaning = "always" // and without a question from now on
	MeansNo     Meaning = "no"
	MeansOther  Meaning = "" // none of these: it has to be named by its number or its words
	MeansText   Meaning = "text"
)

var (
	saysText   = lazyregexp.New(`(?i)^(type (something|your own)|enter a custom|other \(type)`)
	saysNo     = lazyregexp.New(`(?i)^(no|reject|deny)(,|\s*\(|$)`)
	saysAlways = lazyregexp.New(`(?i)\balways\b|don.t ask again|\b(for|during) th(is|e) session\b|auto[- ]?(accept|approve)|allow all\b|\baccept edits\b`)
	saysYes    = lazyregexp.New(`(?i)^(yes|allow once|y|confirm|submit answers)(,|\s*\(|$)`)
)

// Means is what the words of an option say. What is not clear is MeansOther.
func (o Option) Means() Meaning {
	switch {
	case saysText.MatchString(o.Label):
		return MeansText
	case saysNo.MatchString(o.Label), strings.EqualFold(o.Label, "n"):
		return MeansNo
	case saysAlways.MatchString(o.Label + " " + o.About):
		if saysYes.MatchString(o.Label) || strings.HasPrefix(o.Label, "Allow") {
			return MeansAlways
		}
	case saysYes.MatchString(o.Label):
		return MeansYes
	}
	return MeansOther
}
