//go:build failpoints

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// init sets fail points, for the tests: PAW_TEST_KILL=STEP[:N] kills paw with SIGKILL when it has
// done a step for the Nth time, PAW_TEST_STEPS=FILE lists the steps, and PAW_TEST_AT=STEP with
// PAW_TEST_DO=COMMAND runs a command after a step. PAW_TEST_PATIENCE=DURATION is how long paw
// doctor --cli waits for anything.
func init() {
	if !testing.Testing() {
		panic("paw with fail points has to be linked with -X testing.testBinary=1, which guards the user's tmux server")
	}
	if patience, err := time.ParseDuration(os.Getenv("PAW_TEST_PATIENCE")); err == nil {
		trialPatience = patience
	}
	kill, nth := os.Getenv("PAW_TEST_KILL"), 1
	if name, n, ok := strings.Cut(kill, ":"); ok {
		kill = name
		nth, _ = strconv.Atoi(n)
	}
	at := os.Getenv("PAW_TEST_AT")
	if len(os.Args) < 2 || !slices.Contains([]string{"hook", "__acp", "demo-agent"}, os.Args[1]) { // which pass the variable on, to what does their work
		os.Unsetenv("PAW_TEST_AT") // the command between the steps must not run it again
	}
	file := os.Getenv("PAW_TEST_STEPS")
	os.Unsetenv("PAW_TEST_STEPS") // only the steps of this process are listed, not those of paw in panes
	seen := map[string]int{}
	stepHook = func(name string) {
		if file != "" {
			listStep(file, name)
		}
		seen[name]++
		if name == at && seen[name] == 1 {
			out, err := exec.Command("sh", "-c", os.Getenv("PAW_TEST_DO")).CombinedOutput()
			if err != nil {
				fmt.Fprintf(os.Stderr, "after %s: %v\n%s", name, err, out)
			}
		}
		if name == kill && seen[name] == nth {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

func listStep(file, name string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, name)
		f.Close()
	}
}
