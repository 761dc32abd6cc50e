// Command clitable shows what became of the tests with the real CLIs, for .ci/test-clis.
//
//	go test -json ... | clitable watch FILE    a line for each test that ends; the events are added to FILE
//	clitable close LOG FOLDER...               the closing tables; the output of failed tests goes to LOG
//
// A FOLDER has the results of one set of versions, whose name is the folder's:
//
//	results.json    the events of go test
//	plan, done      the names of the tests that were to run, and of those that ran
//	facts           a name and a value per line: node, the version of each CLI, load, seconds; or
//	                same, with another set that has the same versions, in place of results
//
// The exit status is 1 when a test failed or a set has no test that ran.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
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

	"paw/orchestrator/cli"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		if !errors.Is(err, errFailed) {
			fmt.Fprintf(os.Stderr, "clitable: error: %v\n", err)
		}
		os.Exit(1)
	}
}

// errFailed reports failed tests, after they were printed.
var errFailed = errors.New("tests failed")

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "watch":
		return watch(stdin, stdout, args[1])
	case len(args) > 2 && args[0] == "close":
		return closing(stdout, args[1], args[2:])
	}
	return errors.New("usage: clitable watch FILE | clitable close LOG FOLDER [FOLDER]")
}

// event is a line of `go test -json`.
type event struct {
	Action  string
	Test    string // "" for the whole package
	Output  string
	Elapsed float64 // seconds
}

// ends maps the actions that end a test to its result.
var ends = map[string]string{"pass": "ok", "fail": failed, "skip": "skip"}

const failed = "FAIL"

// longestLine limits a line of `go test -json`.
const longestLine = 1 << 28

// each calls do for each line of `go test -json`. The event of a line that is none, such as a message
// of the compiler, has no action.
func each(r io.Reader, do func(line string, e event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			e = event{}
		}
		if err := do(lines.Text(), e); err != nil {
			return err
		}
	}
	return lines.Err()
}

// watch appends the events on stdin to a file, and prints a line for each test that ends.
func watch(stdin io.Reader, stdout io.Writer, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	bad := false
	err = each(stdin, func(line string, e event) error {
		end := ends[e.Action]
		bad = bad || end == failed
		switch {
		case e.Action == "" && line != "":
			fmt.Fprintln(stdout, line)
		case e.Action == "build-output":
			fmt.Fprint(stdout, e.Output)
		case end != "" && e.Test != "":
			fmt.Fprintf(stdout, "%-4s %6.1fs  %s\n", end, e.Elapsed, e.Test)
		}
		_, err := io.WriteString(file, line+"\n")
		return err
	})
	if err == nil && bad {
		return errFailed
	}
	return err
}

// test is the result of one test. The test without a name stands for the package, which may not
// compile or may crash.
type test struct {
	name    string
	result  string   // a value of ends; failed for a test without an end, because its program crashed
	output  []string // lines
	elapsed float64
}

func (t *test) title() string { return cmp.Or(t.name, "all") }

// cell returns the result for the table, with the time if that is half a second or more.
func (t *test) cell() string {
	if t.elapsed < 0.5 || t.result == ends["skip"] {
		return t.result
	}
	return fmt.Sprintf("%s %.0fs", t.result, t.elapsed)
}

// set is a set of CLI versions with the results of its tests, in the order of their begins.
type set struct {
	name   string
	facts  map[string]string
	tests  []*test
	missed []string // tests that should have run and never began
}

func (s *set) find(name string) int {
	return slices.IndexFunc(s.tests, func(t *test) bool { return t.name == name })
}

func readSet(folder string) (*set, error) {
	s := &set{name: filepath.Base(folder), facts: map[string]string{}}
	content, err := os.ReadFile(filepath.Join(folder, "facts"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.facts[name] = value
	}
	files := map[string][]byte{}
	for _, name := range []string{"results.json", "plan", "done"} {
		if files[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	err = each(bytes.NewReader(files["results.json"]), func(_ string, e event) error {
		if e.Action == "" || strings.HasPrefix(e.Action, "build-") {
			return nil
		}
		i := s.find(e.Test)
		if i < 0 {
			i, s.tests = len(s.tests), append(s.tests, &test{name: e.Test, result: failed})
		}
		if t := s.tests[i]; e.Output != "" {
			t.output = append(t.output, e.Output)
		} else if end := ends[e.Action]; end != "" {
			t.result, t.elapsed = end, e.Elapsed
		}
		return nil
	})
	done := strings.Fields(string(files["done"]))
	s.missed = slices.DeleteFunc(strings.Fields(string(files["plan"])), func(name string) bool { return slices.Contains(done, name) || s.find(name) >= 0 })
	return s, err
}

// blamed returns the tests whose results are their own: without those that have subtests, unless
// they failed although none of these did.
func (s *set) blamed() []*test {
	return slices.DeleteFunc(slices.Clone(s.tests), func(one *test) bool {
		parent, failure := false, false
		for _, other := range s.tests {
			if other != one && (one.name == "" || strings.HasPrefix(other.name, one.name+"/")) {
				parent, failure = true, failure || other.result == failed
			}
		}
		return failure || parent && one.result != failed
	})
}

func (s *set) failures() []*test {
	return slices.DeleteFunc(s.blamed(), func(t *test) bool { return t.result != failed })
}

// clis returns the CLIs that are tested.
func clis() (names []string) {
	for _, looked := range cli.LookedAts() {
		names = append(names, looked.CLI)
	}
	return names
}

// place returns the label of a test's scenario, and its CLIs.
func place(name string) (label string, of []string) {
	parts := strings.Split(name, "/")
	label = strings.TrimPrefix(parts[0], "Test")
	for _, part := range parts[1:] {
		words := strings.Split(part, "_")
		if !slices.Contains(clis(), part) {
			label += ": " + strings.Join(words, " ")
		}
		for _, word := range words {
			if slices.Contains(clis(), word) && !slices.Contains(of, word) {
				of = append(of, word)
			}
		}
	}
	return label, of
}

// row is a scenario with the texts of its cells, by CLI.
type row struct {
	group, label string // group is the top-level test, such as "TestCLIs"
	cells        map[string]string
}

// rows sorts the results by scenario and CLI. After a failure a CLI's other scenarios of a group did
// not run.
func (s *set) rows() (rows []*row) {
	at := func(test, label string) *row {
		group, _, _ := strings.Cut(test, "/")
		i := slices.IndexFunc(rows, func(r *row) bool { return r.label == label })
		if i < 0 {
			i, rows = len(rows), append(rows, &row{group, label, map[string]string{}})
		}
		return rows[i]
	}
	for _, t := range s.blamed() {
		label, of := place(t.name)
		for _, cli := range of {
			at(t.name, label).cells[cli] = t.cell()
		}
	}
	cut := slices.Clone(s.missed)
	for _, t := range s.tests {
		if t.result == failed {
			cut = append(cut, t.name)
		}
	}
	for _, name := range cut {
		group, rest, _ := strings.Cut(name, "/")
		if !slices.Contains(clis(), rest) {
			continue
		}
		if !slices.ContainsFunc(rows, func(r *row) bool { return r.group == group }) {
			at(name, strings.TrimPrefix(group, "Test"))
		}
		for _, r := range rows {
			if r.group == group && r.cells[rest] == "" {
				r.cells[rest] = "not run"
			}
		}
	}
	return rows
}

// print prints the scenarios of a set and the first lines of its failures. It reports whether a
// test failed or is missing, or none of a CLI ran.
func (s *set) print(w io.Writer) (bad bool) {
	if same := s.facts["same"]; same != "" {
		fmt.Fprintf(w, "\n%s: same as %s\n", s.name, same)
		return false
	}
	fmt.Fprintf(w, "\n%s\n", s.name)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(columns, "scenario\t%s\n", strings.Join(clis(), "\t"))
	for _, r := range s.rows() {
		line := r.label
		for _, cli := range clis() {
			line += "\t" + cmp.Or(r.cells[cli], "-") // no such test for the CLI
		}
		fmt.Fprintln(columns, line)
	}
	_ = columns.Flush() // an error cuts the table visibly
	none := true
	for _, t := range s.blamed() {
		_, of := place(t.name)
		none = none && (t.name == "" || len(of) == 0 && t.result == ends["skip"]) // one of several CLIs names none
		if len(of) == 0 && t.result == failed {
			fmt.Fprintf(w, "FAIL %s\n", t.title())
		}
	}
	for _, t := range s.failures() {
		fmt.Fprintf(w, "\nFAIL %s %s (%.0f s)\n", s.name, t.title(), t.elapsed)
		for _, line := range excerpt(t.output) {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	if len(s.missed) > 0 {
		fmt.Fprintf(w, "\nFAIL %s: never began: %s\n", s.name, strings.Join(s.missed, ", "))
	}
	if none {
		fmt.Fprintf(w, "FAIL %s: no test of a CLI ran\n", s.name)
	}
	return len(s.failures())+len(s.missed) > 0 || none
}

// excerpt returns the first lines of a test's output that say something, cut to the width of a
// terminal.
func excerpt(output []string) (kept []string) {
	const most, width = 8, 160
	for line := range strings.Lines(strings.Join(output, "")) {
		line = strings.TrimRight(line, " \r\n")
		word := strings.TrimSpace(line)
		if word == "" || strings.HasPrefix(word, "=== ") || strings.HasPrefix(word, "--- ") || len(kept) == most {
			continue
		}
		if r := []rune(line); len(r) > width {
			line = string(r[:width-1]) + "…"
		}
		kept = append(kept, line)
	}
	return kept
}

// fact returns the value of a fact for the closing table. A value that the first set has too is
// "same as" and the name of that set.
func (s *set) fact(name string, first *set) string {
	same, value := s.facts["same"], s.facts[name]
	if seconds, err := strconv.Atoi(s.facts["seconds"]); name == "duration" && err == nil {
		value = (time.Duration(seconds) * time.Second).String()
	}
	switch {
	case same != "":
		return "same as " + same
	case value == "":
		return "?"
	case s != first && value == first.facts[name] && name != "load":
		return "same as " + first.name
	}
	return value
}

// closing prints the tables of all sets, and writes the output of failed tests to logFile.
func closing(stdout io.Writer, logFile string, folders []string) error {
	var sets []*set
	for _, folder := range folders {
		s, err := readSet(folder)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	bad := false
	header, log := "version", ""
	for _, s := range sets {
		bad = s.print(stdout) || bad
		header += "\t" + s.name
		for _, t := range s.failures() {
			log += fmt.Sprintf("##### %s: %s\n%s\n", s.name, t.title(), strings.Join(t.output, ""))
		}
	}
	columns := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(columns, "\n%s\n", header)
	for _, name := range slices.Concat([]string{"node"}, clis(), []string{"load", "duration"}) {
		line := name
		for _, s := range sets {
			line += "\t" + s.fact(name, sets[0])
		}
		fmt.Fprintln(columns, line)
	}
	_ = columns.Flush() // see print
	if log != "" {
		fmt.Fprintf(stdout, "\nthe output of all failed tests: %s\n", logFile)
	}
	if err := os.WriteFile(logFile, []byte(log), 0o644); err != nil {
		return err
	}
	if bad {
		return errFailed
	}
	return nil
}
