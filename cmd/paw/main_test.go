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

// self is the test binary.
var self = func() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}()

// TestMain lets the test binary be paw: as a command of the scripts, in the
// worlds of the crash tests, and in the panes that either of them opens.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "__launcher" {
		launcherPrograms[os.Args[2]](os.Args[3:])
	}
	if os.Getenv("PAW_TEST_MAIN") != "" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		mainForTests() // tmux and CLIs call the paw that started them; as a test it would run all tests again
	}
	testscript.Main(tests{m}, map[string]func(){"paw": mainForTests, "git-paw": mainForTests})
}

// tests are those of this binary.
type tests struct{ *testing.M }

// Run runs them. What they start may be interrupted also where the tests themselves are not, as under nohup(1) and behind
// an & of a script: a signal that is ignored stays so over execve(2), one that is caught does not.
func (m tests) Run() int {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // the most part of these tests waits: for tmux, for programs, for time that has to pass
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	return m.M.Run()
}

// mainForTests is paw with fail points: PAW_TEST_KILL=STEP[:N] kills it with
// SIGKILL after the Nth time of a step, PAW_TEST_STEPS=FILE lists the steps,
// PAW_TEST_AT=STEP and PAW_TEST_DO=COMMAND run something in between.
// PAW_TEST_PATIENCE=DURATION is how long paw doctor --cli waits for anything.
func mainForTests() {
	kill, nth := os.Getenv("PAW_TEST_KILL"), 1
	if name, n, ok := strings.Cut(kill, ":"); ok {
		kill = name
		nth, _ = strconv.Atoi(n)
	}
	at := os.Getenv("PAW_TEST_AT")
	if len(os.Args) < 2 || os.Args[1] != "hook" { // a hook hands it over
		os.Unsetenv("PAW_TEST_AT") // not again in what runs in between
	}
	if patience, err := time.ParseDuration(os.Getenv("PAW_TEST_PATIENCE")); err == nil {
		trialPatience = patience
	}
	file := os.Getenv("PAW_TEST_STEPS")
	os.Unsetenv("PAW_TEST_STEPS") // the steps are those of this process, not of what it starts in panes
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
