package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"paw/config/lazyregexp"
	"paw/orchestrator"
	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/session"
	"paw/session/history"
)

// isTerminal reports whether a file is a terminal, or the pager on one.
func isTerminal(w any) bool {
	if _, ok := w.(*pager); ok {
		return true
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printJSON prints v as one line.
func (a *app) printJSON(v any) error { return writeJSON(a.stdout, v) }

// writeJSON writes v as one line without any control character: some terminals obey DEL and U+0080 to U+009F, which
// JSON may have as they are.
func writeJSON(w io.Writer, v any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, controlCharacter.ReplaceAllStringFunc(line.String(), func(c string) string {
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Sprintf(`\u%04x`, r)
	}))
	return err
}

var controlCharacter = lazyregexp.New(`[\x{7f}-\x{9f}]`)

// stateColours are the ANSI colours of states, on terminals only; the words
// carry the meaning.
var stateColours = map[string]string{
	"active": "32", "running": "32", "alive": "32", "resumed": "32", "idle": "36", "completed": "36", "fresh": "33",
	"waiting_input": "33;1", "waiting_children": "33", "suspended": "33", "stopped": "33", "error": "31;1", "limited": "33;1", "refused": "31;1", "unknown": "35",
}

// colourOf names the colour of a state: a limit has one of its own, in whatever state the agent is.
func colourOf(st session.AgentStatus) string {
	if st.Limit != nil {
		return "limited"
	}
	return string(st.State)
}

// cell is one field of a table, with the state that colours it.
type cell struct{ text, state string }

// texts is a row without colours.
func texts(fields ...string) []cell {
	row := make([]cell, len(fields))
	for i, text := range fields {
		row[i].text = text
	}
	return row
}

// printTable prints rows with aligned columns, two spaces apart, indented.
func (a *app) printTable(w io.Writer, indent string, rows [][]cell) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, c := range row {
			row[i].text = onOneLine(c.text)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	var out []byte // written at once: a table of 200 rows is one write
	for _, row := range rows {
		out = append(out, indent...)
		for i, c := range row {
			out = append(out, a.colour(c.text, c.state)...)
			for n := utf8.RuneCountInString(c.text) - 2; n < widths[i] && i < len(row)-1; n++ {
				out = append(out, ' ')
			}
		}
		out = append(bytes.TrimRight(out, " "), '\n')
	}
	_, _ = w.Write(out)
}

// onOneLine is text that agents and CLIs may have written, as it can be printed
// among other text: nothing in it acts on the terminal.
func onOneLine(text string) string {
	return breaks.Replace(history.Printable(text))
}

var breaks = strings.NewReplacer("\n", " ", "\t", " ")

// colour paints text in the colour of a state, where output is coloured.
func (a *app) colour(text, state string) string {
	return a.paint(text, stateColours[state])
}

// paint gives text a colour by its ANSI code, where output is coloured.
func (a *app) paint(text, code string) string {
	if code == "" || text == "" || !a.coloured() {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// coloured tells whether output is coloured; it asks the terminal once.
func (a *app) coloured() bool {
	if a.colours == nil {
		on := wantsColour(a.colourFlag, isTerminal(a.stdout), func(name string) string { return lookUp(a.env, name) })
		a.colours = &on
	}
	return *a.colours
}

// wantsColour decides whether output is coloured: the flag first, then NO_COLOR (no-color.org), CLICOLOR_FORCE and CLICOLOR
// (bixense.com/clicolors), and only terminals that know colours.
func wantsColour(flag string, terminal bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case flag == "always":
		return true
	case flag == "never" || getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && getenv("CLICOLOR") != "0" && getenv("TERM") != "dumb"
}

// lookUp is the value of a variable in a list of them, the last one where it is there twice.
func lookUp(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// printStatus prints one session for people.
func (a *app) printStatus(st fleet.SessionStatus, now time.Time) {
	line := fmt.Sprintf("%s  %s  %s", st.Session.Name, a.colour(string(st.Status), string(st.Status)), shortened(st.Session.RepoPath))
	if st.Reason != "" {
		line += "  (" + onOneLine(st.Reason) + ")"
	}
	fmt.Fprintln(a.stdout, line)
	rows := make([][]cell, 0, len(st.Agents))
	resumable := false
	for _, ag := range families(st.Agents) {
		notes := []string{ag.Reason, inShort(ag.Used)}
		if with := collidesWith(ag.AgentStatus); with != "" {
			notes = slices.Insert(notes, 1, "collides with "+with)
		}
		if ag.Dirty != nil && *ag.Dirty > 0 {
			notes = slices.Insert(notes, 1, fmt.Sprintf("%d uncommitted", *ag.Dirty))
		}
		notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
		// Of those that were stopped one by one the user knows.
		resumable = resumable || canComeBack(ag.AgentStatus) && (st.Status == session.StatusStopped || ag.Cause != session.CauseStopped)
		rows = append(rows, []cell{{text: ag.label()}, {text: ag.Record.CLI}, {string(ag.State), string(ag.State)},
			{text: since(ag.AgentStatus, now)}, {text: turnsOf(ag.AgentStatus)}, {text: ag.Record.Branch}, {text: strings.Join(notes, ", ")}})
	}
	a.printTable(a.stdout, "  ", rows)
	if len(st.Agents) == 0 {
		fmt.Fprintf(a.stdout, "  no agents; paw purge %s deletes its record\n", st.Session.Name)
	}
	if resumable {
		fmt.Fprintf(a.stdout, "  paw recover %s brings them back\n", st.Session.Name)
	}
}

// turnsOf is how many turns an agent has finished, behind the number of the one
// under way, with dots. Numbers count all turns, also those that were cut.
func turnsOf(ag *fleet.AgentStatus) string {
	var words []string
	if inTurn(ag) {
		words = append(words, fmt.Sprintf("turn %d…", ag.CurrentTurn))
	}
	if ag.TurnsCompleted > 0 {
		words = append(words, fmt.Sprintf("%d finished", ag.TurnsCompleted))
	}
	return strings.Join(words, ", ")
}

// wouldBe are the results of agents that were not carried out.
var wouldBe = map[launch.ResultKind]string{
	launch.ResultResumed: "would resume",
	launch.ResultFresh:   "would start fresh",
}

// printResults prints what became of agents or, with dryRun, what would.
func (a *app) printResults(s *session.Session, results []launch.Result, dryRun bool) {
	fmt.Fprintf(a.stdout, "%s  %s\n", s.Name, shortened(s.RepoPath))
	rows := make([][]cell, 0, len(results))
	for _, r := range results {
		word := string(r.Kind)
		if would := wouldBe[r.Kind]; dryRun && would != "" {
			word = would
		}
		rows = append(rows, []cell{{text: r.Agent}, {text: r.CLI}, {word, string(r.Kind)}, {text: r.Reason}})
	}
	a.printTable(a.stdout, "  ", rows)
	for _, r := range results {
		for _, note := range r.Notes {
			a.note(r.Agent + ": " + note)
		}
		if r.Kind == launch.ResultRefused {
			a.sayError(r.Agent+": "+r.Reason, r.Hints)
		}
	}
}

// showResults ends start and add: as JSON, or with the list and attached.
func (a *app) showResults(cmd *cobra.Command, h *home.Home, s *session.Session, results []launch.Result, detach bool) error {
	if a.json {
		return a.showSession(cmd, h, s.Name, results)
	}
	a.printResults(s, results, false)
	if anyRefused(results) {
		return exitStatus(fault.Failed)
	}
	if detach || !isTerminal(a.stdout) {
		fmt.Fprintf(a.stdout, "paw attach %s shows it\n", s.Name)
		return nil
	}
	return orchestrator.Attach(cmd.Context(), h, s, "")
}

// showSession prints the status of one session, with --json also what became of
// its agents.
func (a *app) showSession(cmd *cobra.Command, h *home.Home, name string, results []launch.Result) error {
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{Name: name})
	switch {
	case err != nil:
		return err
	case a.json:
		err = a.printJSON(startedJSON{statusJSON: statusView(statuses, problems), Results: resultsView(results), Notes: a.noted()})
	default:
		err = a.showStatus(h, statuses, problems)
	}
	if err == nil && anyRefused(results) {
		return exitStatus(fault.Failed)
	}
	return err
}

// showPlan prints what start or add would do.
func (a *app) showPlan(steps []string) error {
	if a.json {
		return a.printJSON(planJSON{Version: 1, Plan: steps, Notes: a.noted()})
	}
	for _, step := range steps {
		fmt.Fprintln(forReading(a.stdout), step)
	}
	return nil
}

// shortened is a path with ~ for the home directory of the user.
func shortened(path string) string {
	dir, err := os.UserHomeDir()
	if err == nil && dir != "/" && strings.HasPrefix(path, dir+"/") {
		return "~" + path[len(dir):]
	}
	return path
}

// forReading is w, on a terminal without what would command it: a CLI passes on what files and web pages say.
func forReading(w io.Writer) io.Writer {
	if isTerminal(w) {
		return printable{w}
	}
	return w
}

// printable writes texts, each of them whole lines, as history.Printable shows them.
type printable struct{ w io.Writer }

func (p printable) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, history.Printable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// anyRefused reports whether an agent could not be brought back.
func anyRefused(results []launch.Result) bool {
	return slices.ContainsFunc(results, func(r launch.Result) bool { return r.Kind == launch.ResultRefused })
}
