package turn

import "time"

// Limit is what a CLI says of a usage limit that is reached: of a subscription, of a key.
type Limit struct {
	Until time.Time // when it is lifted, zero where the CLI does not say
}

// write puts the limit into an event.
func (l *Limit) write(e *line) {
	if l == nil {
		return
	}
	e.Limited = true
	if !l.Until.IsZero() {
		e.Until = &l.Until
	}
}

// limit is what write put there.
func (e line) limit() *Limit {
	switch {
	case !e.Limited:
		return nil
	case e.Until == nil:
		return &Limit{}
	}
	return &Limit{Until: *e.Until}
}
