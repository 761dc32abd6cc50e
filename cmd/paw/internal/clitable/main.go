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
	"errors"
	"fmt"
	"io"
	"os"
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
