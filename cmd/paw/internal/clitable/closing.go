package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"paw/orchestrator/cli"
)

// set is a set of CLI versions with the results of its tests.
type set struct {
	name  string
	facts map[string]string
	table table
}

// closing prints the tables of all sets, and writes the output of failed tests to logFile.
func closing(stdout io.Writer, logFile string, folders []string) error {
	var sets []set
	for _, folder := range folders {
		s, err := readSet(folder)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	bad := false
	for _, s := range sets {
		bad = s.print(stdout) || bad
	}
	printFacts(stdout, sets)
	failed, err := writeFailures(logFile, sets)
	if err != nil {
		return err
	}
	if failed {
		fmt.Fprintf(stdout, "\nthe output of all failed tests: %s\n", logFile)
	}
	if bad {
		return errFailed
	}
	return nil
}

func readSet(folder string) (set, error) {
	s := set{name: filepath.Base(folder), facts: map[string]string{}}
	content, err := os.ReadFile(filepath.Join(folder, "facts"))
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.facts[name] = value
	}
	results, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	missed, err := names(folder, "plan")
	if err != nil {
		return s, err
	}
	done, err := names(folder, "done")
	if err != nil {
		return s, err
	}
	missed = slices.DeleteFunc(missed, func(name string) bool { return slices.Contains(done, name) })
	tests, err := readTests(bytes.NewReader(results))
	s.table = newTable(tests, missed)
	return s, err
}

// names returns the words in a file of a set, none if the file does not exist.
func names(folder, file string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

// print prints the scenarios of a set and the first lines of its failures. It reports whether a
// test failed or is missing.
func (s set) print(w io.Writer) bool {
	if same := s.facts["same"]; same != "" {
		fmt.Fprintf(w, "\n%s: same as %s\n", s.name, same)
		return false
	}
	fmt.Fprintf(w, "\n%s\n", s.name)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(columns, "scenario\t%s\n", strings.Join(s.table.clis, "\t"))
	for _, r := range s.table.rows {
		line := r.label
		for _, cli := range s.table.clis {
			line += "\t" + r.cell(cli)
		}
		fmt.Fprintln(columns, line)
	}
	_ = columns.Flush() // an error cuts the table visibly
	for _, t := range s.table.others {
		fmt.Fprintf(w, "FAIL %s\n", t.title())
	}
	for _, t := range s.table.failed {
		fmt.Fprintf(w, "\nFAIL %s %s (%.0f s)\n", s.name, t.title(), t.elapsed)
		for _, line := range excerpt(t.output) {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	if len(s.table.missed) > 0 {
		fmt.Fprintf(w, "\nFAIL %s: never began: %s\n", s.name, strings.Join(s.table.missed, ", "))
	}
	if s.table.ran == 0 {
		fmt.Fprintf(w, "FAIL %s: no test of a CLI ran\n", s.name)
	}
	return len(s.table.failed)+len(s.table.missed) > 0 || s.table.ran == 0
}

func (t *test) title() string { return cmp.Or(t.name, "all") }

// excerpt returns the first lines of a test's output that say something, cut to the width of a
// terminal.
func excerpt(output []string) []string {
	const most, width = 8, 160
	var kept []string
	for line := range strings.Lines(strings.Join(output, "")) {
		line = strings.TrimRight(line, " \r\n")
		word := strings.TrimSpace(line)
		if word == "" || strings.HasPrefix(word, "=== ") || strings.HasPrefix(word, "--- ") {
			continue
		}
		if utf8.RuneCountInString(line) > width {
			line = string([]rune(line)[:width-1]) + "…"
		}
		if kept = append(kept, line); len(kept) == most {
			break
		}
	}
	return kept
}

// printFacts prints a column of facts for each set.
func printFacts(w io.Writer, sets []set) {
	fmt.Fprintln(w)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	header := "version"
	for _, s := range sets {
		header += "\t" + s.name
	}
	fmt.Fprintln(columns, header)
	names := []string{"node"}
	for _, looked := range cli.LookedAts() {
		names = append(names, looked.CLI)
	}
	for _, name := range append(names, "load", "duration") {
		line := name
		for _, s := range sets {
			line += "\t" + s.fact(name, sets)
		}
		fmt.Fprintln(columns, line)
	}
	_ = columns.Flush() // see print
}

func (s set) fact(name string, sets []set) string {
	same := s.facts["same"]
	if name == "duration" && same == "" {
		if seconds, err := strconv.Atoi(s.facts["seconds"]); err == nil {
			return (time.Duration(seconds) * time.Second).String()
		}
	}
	value := s.facts[name]
	first := sets[0]
	switch {
	case same != "":
		return "same as " + same
	case value == "":
		return "?"
	case name != "load" && s.name != first.name && value == first.facts[name]:
		return "same as " + first.name
	}
	return value
}

// writeFailures writes the output of failed tests, and reports whether there are any.
func writeFailures(name string, sets []set) (bool, error) {
	var text strings.Builder
	for _, s := range sets {
		for _, t := range s.table.failed {
			fmt.Fprintf(&text, "##### %s: %s\n%s\n", s.name, t.title(), strings.Join(t.output, ""))
		}
	}
	return text.Len() > 0, os.WriteFile(name, []byte(text.String()), 0o644)
}

type row struct {
	group string // top-level test of the scenario, such as "TestCLIs"
	label string
	cells map[string]result  // result by CLI
	times map[string]float64 // time in seconds by CLI, of tests that ran
}

type table struct {
	clis   []string
	rows   []*row
	others []*test  // failed tests of no CLI
	failed []*test  // failed tests, without those that only contain one
	missed []string // tests that should have run and never began
	ran    int      // number of CLI tests that ended, including skipped ones
}

// newTable sorts tests by scenario and CLI. missed are tests that should have run; those that are
// among tests are ignored.
func newTable(tests []*test, missed []string) table {
	t := table{}
	for _, looked := range cli.LookedAts() {
		t.clis = append(t.clis, looked.CLI)
	}
	for _, one := range tests {
		if !blamed(one, tests) {
			continue
		}
		if one.result == resultFail {
			t.failed = append(t.failed, one)
		}
		label, clis := place(one.name, t.clis)
		if len(clis) == 0 && one.result == resultFail {
			t.others = append(t.others, one)
		}
		if len(clis) > 0 {
			t.ran++
		}
		for _, cli := range clis {
			r := t.row(one, label)
			r.cells[cli], r.times[cli] = one.result, one.elapsed
		}
	}
	for _, one := range tests { // after a failure a CLI's other scenarios did not run
		group, cli, _ := strings.Cut(one.name, "/")
		if one.result == resultFail && slices.Contains(t.clis, cli) {
			t.notRun(group, cli)
		}
	}
	for _, name := range missed {
		if !slices.ContainsFunc(tests, func(one *test) bool { return one.name == name }) {
			t.miss(name)
		}
	}
	return t
}

// miss adds a test that never began, and marks the scenarios of its CLI as not run.
func (t *table) miss(name string) {
	t.missed = append(t.missed, name)
	group, cli, ofCLI := strings.Cut(name, "/")
	if !ofCLI {
		return
	}
	if !slices.ContainsFunc(t.rows, func(r *row) bool { return r.group == group }) {
		t.row(&test{name: name}, strings.TrimPrefix(group, "Test"))
	}
	t.notRun(group, cli)
}

// notRun marks scenarios of a group that a CLI has no result of.
func (t *table) notRun(group, cli string) {
	for _, r := range t.rows {
		if r.group == group && r.cells[cli] == "" {
			r.cells[cli] = resultNotRun
		}
	}
}

// blamed reports whether the result of a test is its own: it has no subtests, or failed although
// none of them did.
func blamed(one *test, all []*test) bool {
	parent := false
	for _, other := range all {
		inside := other != one && (one.name == "" || strings.HasPrefix(other.name, one.name+"/"))
		if inside && other.result == resultFail {
			return false
		}
		parent = parent || inside
	}
	return !parent || one.result == resultFail
}

// place returns the label of a test's scenario, and its CLIs.
func place(name string, known []string) (label string, clis []string) {
	parts := strings.Split(name, "/")
	label = strings.TrimPrefix(parts[0], "Test")
	for _, part := range parts[1:] {
		if slices.Contains(known, part) {
			clis = append(clis, part)
			continue
		}
		words := strings.Split(part, "_")
		label += ": " + strings.Join(words, " ")
		for _, word := range words {
			if slices.Contains(known, word) && !slices.Contains(clis, word) {
				clis = append(clis, word)
			}
		}
	}
	return label, clis
}

func (t *table) row(one *test, label string) *row {
	group, _, _ := strings.Cut(one.name, "/")
	for _, r := range t.rows {
		if r.label == label {
			return r
		}
	}
	r := &row{group: group, label: label, cells: map[string]result{}, times: map[string]float64{}}
	t.rows = append(t.rows, r)
	return r
}

// cell returns the text for a CLI: the result, and the time if that is half a second or more.
func (r *row) cell(cli string) string {
	if r.times[cli] < 0.5 || r.cells[cli] == resultSkip {
		return string(cmp.Or(r.cells[cli], "-")) // no such test for the CLI
	}
	return fmt.Sprintf("%s %.0fs", r.cells[cli], r.times[cli])
}
