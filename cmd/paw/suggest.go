package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// suggester finds the command line that was meant by one that paw refuses.
type suggester struct{ *invocation }

// instead returns the typed command line with the name that err suggests in place of the wrong one,
// "" if err suggests none or the line does not contain the wrong name.
func (g suggester) instead(err error) string {
	var e *errs.Error
	var name *session.NameError
	switch {
	case errors.As(err, &e) && e.Kind == errs.NotFound && e.Instead.Of == everybody:
		return g.retypedForAll()
	case errors.As(err, &e) && strings.HasSuffix(e.Instead.Of, ":"):
		return g.retypedHost(e.Instead)
	case errors.As(err, &e) && e.Kind == errs.NotFound && e.Instead.By != "":
		return g.retypedAgent(e.Instead.Of, e.Instead.By)
	case errors.As(err, &e) && e.Instead.By != "":
		return g.retyped(e.Instead)
	case errors.As(err, &name):
		if usable := session.NameFrom(name.Name); usable != "" {
			return g.renamed(name.Name, usable)
		}
		if name.Kind == "session" {
			return g.typedWithout("--name")
		}
	}
	return ""
}

// withValues returns the typed words with the values of flags changed, behind = or in the next word.
// The last value is the first that change gets.
func (a *invocation) withValues(change func(flag, value string) string) []string {
	words := slices.Clone(a.typed)
	for i, word := range slices.Backward(words) {
		if flag, value, joined := strings.Cut(word, "="); joined && strings.HasPrefix(word, "-") {
			words[i] = flag + "=" + change(flag, value)
		} else if i > 0 {
			words[i] = change(a.typed[i-1], word)
		}
	}
	return words
}

// lineWith is withValues as a command line, "" if nothing changes.
func (g suggester) lineWith(change func(flag, value string) string) string {
	words := g.withValues(change)
	if slices.Equal(words, g.typed) {
		return ""
	}
	return pasted(words)
}

// pasted returns a command line of paw.
func pasted(words []string) string {
	line := "paw"
	for _, word := range words {
		line += " " + errs.Quote(word)
	}
	return line
}

// retyped returns the typed command line with one item of a list replaced, "" if no list has the
// item. It replaces the last of several, because the second of two agents or branches of the same
// name is the one that is refused. An item may also be the whole list.
func (g suggester) retyped(asked errs.Instead) string {
	done := false
	return g.lineWith(func(flag, list string) string {
		if done || !slices.Contains(asked.In, flag) {
			return list
		}
		if done = list == asked.Of; done {
			return asked.By
		}
		items := strings.Split(list, ",")
		for i, item := range slices.Backward(items) {
			if done = strings.TrimSpace(item) == asked.Of; done {
				items[i] = asked.By
				break
			}
		}
		return strings.Join(items, ",")
	})
}

// renamed returns the typed command line with another name for a session or an agent, "" if it has
// no such name.
func (g suggester) renamed(name, by string) string {
	return g.lineWith(func(flag, value string) string {
		switch {
		case flag == "--name" && value == name:
			return by
		case flag != "--cli":
			return value
		}
		items := strings.Split(value, ",")
		for i, item := range items {
			if agent, cli, pair := strings.Cut(item, "="); pair && agent == name {
				items[i] = by + "=" + cli
			}
		}
		return strings.Join(items, ",")
	})
}

// typedWithout returns the typed command line without a flag and its value.
func (g suggester) typedWithout(flag string) string {
	var words []string
	for i, word := range g.typed {
		if word != flag && !strings.HasPrefix(word, flag+"=") && (i == 0 || g.typed[i-1] != flag) {
			words = append(words, word)
		}
	}
	return pasted(words)
}

// otherNumber reports whether two names of agents, as work_1 and work_2, have different digits: then neither is a mistyped
// other. A name of digits only is the number of an agent at the desk.
func otherNumber(name, by string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	return digits(name) != name && digits(name) != digits(by)
}

// retypedAgent returns the typed command line with another agent, "" if the line does not contain
// the agent, or the other agent has another number.
func (g suggester) retypedAgent(name, by string) string {
	if g.ran == nil || otherNumber(name, by) {
		return ""
	}
	words, found := slices.Clone(g.ran.Flags().Args()), false
	for i, word := range words {
		items := strings.Split(word, ",")
		for k, item := range items {
			of, agent := "", item
			if at := strings.LastIndexByte(item, '/'); at >= 0 {
				of, agent = item[:at+1], item[at+1:]
			}
			if agent, turn, numbered := strings.Cut(agent, "@"); agent == name && !found {
				items[k], found = of+by, true
				if numbered {
					items[k] += "@" + turn
				}
			}
		}
		words[i] = strings.Join(items, ",")
	}
	if !found {
		return ""
	}
	if dash := g.ran.ArgsLenAtDash(); dash >= 0 {
		words = slices.Insert(words, dash, "--")
	}
	return lineOf(g.ran, words)
}

// retypedHost returns the typed command line with another HOST:, "" if the line does not contain it, or the other host has
// another number.
func (g suggester) retypedHost(asked errs.Instead) string {
	if g.ran == nil || otherNumber(asked.Of, asked.By) {
		return ""
	}
	return g.lineWith(func(flag, value string) string {
		switch {
		case value+":" == asked.Of && (flag == "--on" || g.ran.HasParent() && g.ran.Parent().Name() == "host"):
			return strings.TrimSuffix(asked.By, ":")
		case strings.ContainsAny(value, " \t\n"): // a text
			return value
		}
		items := strings.Split(value, ",")
		for i, item := range items {
			if rest, found := strings.CutPrefix(item, asked.Of); found && rest != "" {
				items[i] = asked.By + rest
			}
		}
		return strings.Join(items, ",")
	})
}

// everybody is the word that people type for all agents, although no agent has this name.
const everybody = "all"

// retypedForAll returns a command line that does for all agents what was typed for an agent "all",
// "" if there is none.
func (g suggester) retypedForAll() string {
	if g.ran == nil || len(g.ran.Flags().Args()) == 0 || g.ran.Flags().Args()[0] != everybody {
		return ""
	}
	behind := g.ran.Flags().Args()[1:]
	switch name := g.ran.Name(); name {
	case "land", "update", "send":
		return lineOf(g.ran, append([]string{"--" + everybody}, behind...))
	case "stop", "wait", "turns", "status", "usage", "forecast", "recover":
		return lineOf(g.ran, behind)
	case "seen", "check", "review", "remove":
		return lineOf(g.ran, append(app.AgentNames(g.sessionHere()), behind...))
	}
	return ""
}

// notRetyped are flags that such a hint leaves out: the hint names one agent with its session, and is to be carried out.
var notRetyped = []string{"session", "all", "keep-going", "dry-run", "state", "json"}

// alike pairs commands that share flags: a hint for one keeps what was typed for the other.
var alike = map[string]string{"start": "add", "add": "start"}

// typedFor returns the flags that were typed, if command is the one that runs or its twin in alike. See app.Agent.Line.
func (a *invocation) typedFor(command string) []app.Flag {
	if a.ran == nil || a.ran.Name() != command && alike[a.ran.Name()] != command {
		return nil
	}
	other, _, err := a.commands(&invocation{}, command).Find([]string{command})
	return slices.DeleteFunc(typedFlags(a.ran), func(f app.Flag) bool {
		return err != nil || other.Flags().Lookup(f.Name) == nil || slices.Contains(notRetyped, f.Name)
	})
}

// typedFlags returns the command's own flags that were typed, but never --yes: who pastes a line has not read the question.
func typedFlags(cmd *cobra.Command) (flags []app.Flag) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			if values = several.GetSlice(); f.Value.Type() == "stringSlice" { // as in --cli a,b
				values = []string{strings.Join(values, ",")}
			}
		}
		switch {
		case !f.Changed || f.Name == "yes":
		case f.Value.Type() == "bool":
			flags = append(flags, app.Flag{Name: f.Name, Off: values[0] == "false"})
		default:
			flags = append(flags, app.With(f.Name, values...))
		}
	})
	return flags
}

// lineOf returns the command line of cmd with other words and the flags that were typed, changed by flags. Without the flags,
// a pasted line would do something else.
func lineOf(cmd *cobra.Command, words []string, flags ...app.Flag) string {
	line := cmd.CommandPath() + app.Flags(append(typedFlags(cmd), flags...))
	for _, word := range words {
		line += " " + errs.Quote(word)
	}
	return line
}
