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
	Test    string // "" for all of them
	Output  string
	Elapsed float64 // seconds
}

// test is what became of one test. That of all has no name: they may not have been built, or have died.
type test struct {
	name    string
	result  result
	output  []string // lines
	elapsed float64
}

// result is how a test ended.
type result string

// The results of a test. One that never ended, as its program died, has failed.
const (
	resultOK     result = "ok"
	resultFail   result = "FAIL"
	resultSkip   result = "skip"
	resultNone   result = "-"       // there is no such test for the CLI
	resultNotRun result = "not run" // the tests of the CLI ended before it
)

// resultOf is the result that an action of an event means, "" for one that is no end.
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

// watch adds the events of stdin to a file and tells of each test that ends.
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
		if !ok { // a compiler's complaint
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

// readTests reads events: the tests in the order in which they began.
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

// parse reads an event, false for a line that is none.
func parse(line string) (e event, ok bool) {
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil
}

// lines calls do for each line, however long.
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
