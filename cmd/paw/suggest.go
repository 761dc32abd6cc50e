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

// hintsOf returns the hints of an error: the typed command line with the name that the error suggests in place of the wrong one,
// and the hints that it has. Without any, for words that cannot be or a name that is taken, it is the help of the command.
func (g suggester) hintsOf(err error) []string {
	hints := g.short(app.HintsOf(err))
	var e *errs.Error
	switch line := g.instead(err); {
	case line != "":
		return append([]string{line}, hints...)
	case len(hints) == 0 && g.ran != nil && (exitCode(err) == int(errs.Usage) || errors.As(err, &e) && e.Instead.By != ""):
		return []string{g.ran.CommandPath() + " --help"}
	}
	return hints
}

// short returns hints without the session before the first agent, where it is the only one of the user's place.
func (g suggester) short(hints []string) []string {
	h, err := g.untold()
	if len(hints) == 0 || errs.Reached != nil || err != nil {
		return hints
	}
	here, err := h.Place().Sessions()
	if err != nil || len(here) != 1 {
		return hints
	}
	hints = slices.Clone(hints)
	for i, hint := range hints {
		begin, rest, named := strings.Cut(hint, " "+here[0].Name+"/")
		if named && strings.HasPrefix(begin, "paw ") && strings.Trim(begin, "abcdefghijklmnopqrstuvwxyz ") == "" {
			hints[i] = begin + " " + rest
		}
	}
	return hints
}

// instead returns "" if err suggests no name, or the line does not have the wrong name exactly once.
func (g suggester) instead(err error) string {
	var name *session.NameError
	var e *errs.Error
	switch {
	case errors.As(err, &name) && name.Kind == "agent":
		return g.retyped(name.Name+"=", session.NameFrom(name.Name)+"=")
	case errors.As(err, &name):
		return g.retyped(name.Name, session.NameFrom(name.Name))
	case !errors.As(err, &e):
		return ""
	case e.Kind == errs.NotFound && e.Instead.Of == everybody && g.ran != nil && slices.Contains(forAll, g.ran.Name()):
		return g.retyped(everybody, "--"+everybody)
	case g.isTask(e.Instead.Of):
		return "paw queue"
	}
	return g.retyped(e.Instead.Of, e.Instead.By)
}

// isTask reports whether a queue of the sessions here has a task of that name. The agent of a task is made only when the task begins.
func (g suggester) isTask(name string) bool {
	h, err := g.untold()
	if name == "" || errs.Reached != nil || err != nil {
		return false
	}
	here, _ := h.Place().Sessions()
	return slices.ContainsFunc(here, func(s *session.Session) bool {
		q, err := h.Queues().Load(s.Name)
		return err == nil && q != nil && q.Task(name) != nil
	})
}

// retyped returns the typed command line with another name: in place of a whole word, of the value of a flag, or of an item of a
// list, perhaps with a host or a session before it and a turn or a CLI behind it. Where the line has the name in several places,
// or in none, it is not certain what was meant, and the result is "".
func (g suggester) retyped(name, by string) string { return retyped(g.typed, name, by) }

func retyped(typed []string, name, by string) string {
	words, found := slices.Clone(typed), 0
	for i, word := range words {
		if name == "" || by == "" || strings.Trim(by, "_=") == "" || strings.ContainsAny(word, " \t\n") { // a text
			continue
		}
		for at := 0; ; {
			next := strings.Index(word[at:], name)
			if next < 0 {
				break
			}
			begin, end := at+next, at+next+len(name)
			if at = end; (begin == 0 || strings.ContainsRune("=,:/", rune(word[begin-1]))) && (end == len(word) || strings.ContainsRune("=,:@", rune(word[end])) || strings.HasSuffix(name, ":") || strings.HasSuffix(name, "=")) {
				words[i] = word[:begin] + by + word[end:]
				found++
			}
		}
	}
	if found != 1 {
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

// everybody is the word that people type for all agents, although no agent has this name.
const everybody = "all"

// forAll are the commands whose flag --all means all agents of the session.
var forAll = []string{"land", "send", "update"}

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

// lineWith returns the typed command line without some of its words and with others behind the name of the command.
func (a *invocation) lineWith(cmd *cobra.Command, without []string, words ...string) string {
	typed := a.repeated(cmd, without)
	return pasted(slices.Insert(typed, slices.Index(typed, cmd.CalledAs())+1, words...))
}

// repeated returns the typed words without some that follow the name of the command, and without --yes: who pastes a line has not
// read the question.
func (a *invocation) repeated(cmd *cobra.Command, without []string) []string {
	at := slices.Index(a.typed, cmd.CalledAs()) + 1
	words := slices.Clone(a.typed[:at])
	for _, word := range a.typed[at:] {
		if len(without) > 0 && word == without[0] {
			without = without[1:]
			continue
		}
		words = append(words, word)
	}
	if flag := cmd.Flag("yes"); flag == nil || !flag.Changed {
		return words
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "--yes" || letters(word) && strings.Contains(word, "y") })
}

// letters reports whether a word has flags of one letter, as -rf has.
func letters(word string) bool { return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") }
