package app

import (
	"strings"

	"paw/orchestrator/errs"
)

// Flag is a flag of a command line that a hint shows. Without a value it is a switch; Off takes it out.
type Flag struct {
	Name   string // without --
	Values []string
	Off    bool
}

// With returns a flag that a hint adds to what was typed, or has in place of the same one.
func With(name string, values ...string) Flag { return Flag{Name: name, Values: values} }

// Without returns a flag that a hint leaves out.
func Without(name string) Flag { return Flag{Name: name, Off: true} }

// Line returns a command of paw with other words for a hint. If that command is the one which runs, the flags that were typed
// stay; flags changes them, and the last one of a name counts.
func (a Agent) Line(command, words string, flags ...Flag) string {
	if a.App.Typed != nil {
		flags = append(a.App.Typed(command), flags...)
	}
	return strings.TrimSpace("paw "+command+" "+words) + Flags(flags)
}

// Flags returns flags as they stand in a command line, with a space before each. The last one of a name counts, in the place of
// the first.
func Flags(flags []Flag) (line string) {
	last := map[string]Flag{}
	for _, one := range flags {
		last[one.Name] = one
	}
	for _, one := range flags {
		one, counts := last[one.Name]
		if delete(last, one.Name); !counts || one.Off {
			continue
		}
		if len(one.Values) == 0 {
			line += " --" + one.Name
		}
		for _, value := range one.Values {
			between := " "
			if strings.HasPrefix(value, "-") {
				between = "="
			}
			line += " --" + one.Name + between + errs.Quote(value)
		}
	}
	return line
}
