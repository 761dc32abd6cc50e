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
