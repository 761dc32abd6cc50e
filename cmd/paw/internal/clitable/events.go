// Command clitable shows what became of the tests with the real CLIs, for .ci/test-clis.
//
//	go test -json ... | clitable watch FILE    a line for each test that ends; the events are added to FILE
//	clitable close LOG FOLDER...               the closing tables; the output of failed tests goes to LOG
//
// A FOLDER is of one set of versions, which is named like it. It has results.json, the events of go test, plan and done, the names
// of the tests that were to run and of those that had their turn, and facts, a name and a value per line: `node`, the version of each CLI, `load`, `seconds`, or `same` with another set that has the
// same versions, in place of results. The exit status is 1 when a test failed or a set has no test that ran.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action  string
	Test    string // "" for the whole package
	Output  string
	Elapsed float64 // seconds
}

// test is the result of one test. The test without a name stands for the package, which may not
// compile or may crash.
type test struct {
	name    string
	result  result
	output  []string // lines
	elapsed float64
}

type result string

// Results of a test. A test without an end, because its program crashed, has failed.
const (
	resultOK     result = "ok"
	resultFail   result = "FAIL"
	resultSkip   result = "skip"
	resultNotRun result = "not run" // the CLI's tests ended before it
)

// resultOf returns the result for the action of an event, "" for an action that is no end.
func resultOf(action string) result {
	switch action {
	case "pass":
		return resultOK
	case "fail":
		return resultFail
	case "skip":
		return resultSkip
	}
	return ""
}

// watch appends the events on stdin to a file, and prints a line for each test that ends.
func watch(stdin io.Reader, stdout io.Writer, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	failed := false
	err = lines(stdin, func(line string) error {
		if _, err := io.WriteString(file, line+"\n"); err != nil {
			return err
		}
		e, ok := parse(line)
		if !ok { // output of the compiler
			fmt.Fprintln(stdout, line)
			return nil
		}
		end := resultOf(e.Action)
		failed = failed || end == resultFail
		if end != "" && e.Test != "" {
			fmt.Fprintf(stdout, "%-4s %6.1fs  %s\n", end, e.Elapsed, e.Test)
		}
		if e.Action == "build-output" {
			fmt.Fprint(stdout, e.Output)
		}
		return nil
	})
	if err == nil && failed {
		return errFailed
	}
	return err
}

// readTests reads events, and returns the tests in the order of their begins.
func readTests(r io.Reader) ([]*test, error) {
	var tests []*test
	find := func(name string) *test {
		i := slices.IndexFunc(tests, func(t *test) bool { return t.name == name })
		if i < 0 {
			i = len(tests)
			tests = append(tests, &test{name: name, result: resultFail})
		}
		return tests[i]
	}
	err := lines(r, func(line string) error {
		e, ok := parse(line)
		if !ok || e.Action == "build-output" || e.Action == "build-fail" {
			return nil
		}
		t := find(e.Test)
		if e.Output != "" {
			t.output = append(t.output, e.Output)
		}
		if end := resultOf(e.Action); end != "" {
			t.result, t.elapsed = end, e.Elapsed
		}
		return nil
	})
	return tests, err
}

// parse parses an event, and returns false for other lines.
func parse(line string) (e event, ok bool) {
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil
}

// lines calls do for each line, of any length.
func lines(r io.Reader, do func(line string) error) error {
	for reader := bufio.NewReader(r); ; {
		line, err := reader.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			if err := do(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

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
