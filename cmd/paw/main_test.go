package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// self is the path of the test binary.
var self = func() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}()

// TestMain lets the test binary be paw: as a command of the scripts, in the worlds of the tests,
// and in the panes that these open.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "__launcher" {
		launcherPrograms[os.Args[2]](os.Args[3:])
	}
	if os.Getenv("PAW_TEST_MAIN") != "" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		mainForTests() // tmux and CLIs call the paw that started them, which must not run the tests again
	}
	testscript.Main(tests{m}, map[string]func(){"paw": mainForTests, "git-paw": mainForTests})
}

// tests runs the tests of this binary.
type tests struct{ *testing.M }

// Run makes SIGINT and SIGHUP work in the programs that tests start, even if the test process
// ignores these signals, as under nohup(1) or after & in a script: execve(2) keeps an ignored
// signal ignored, but resets a caught one.
func (m tests) Run() int {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // most of these tests wait for tmux or for programs rather than compute
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	return m.M.Run()
}

// mainForTests is paw with fail points: PAW_TEST_KILL=STEP[:N] kills paw with SIGKILL when it has
// done a step for the Nth time, PAW_TEST_STEPS=FILE lists the steps, and PAW_TEST_AT=STEP with
// PAW_TEST_DO=COMMAND runs a command after a step. PAW_TEST_PATIENCE=DURATION is how long paw
// doctor --cli waits for anything.
func mainForTests() {
	kill, nth := os.Getenv("PAW_TEST_KILL"), 1
	if name, n, ok := strings.Cut(kill, ":"); ok {
		kill = name
		nth, _ = strconv.Atoi(n)
	}
	at := os.Getenv("PAW_TEST_AT")
	if len(os.Args) < 2 || os.Args[1] != "hook" { // a hook passes the variable on to the process that does its work
		os.Unsetenv("PAW_TEST_AT") // the command between the steps must not run it again
	}
	if patience, err := time.ParseDuration(os.Getenv("PAW_TEST_PATIENCE")); err == nil {
		trialPatience = patience
	}
	file := os.Getenv("PAW_TEST_STEPS")
	os.Unsetenv("PAW_TEST_STEPS") // only the steps of this process are listed, not those of paw in panes
	seen := map[string]int{}
	stepHook = func(name string) {
		if file != "" {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				fmt.Fprintln(f, name)
				f.Close()
			}
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
	os.Exit(run(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
