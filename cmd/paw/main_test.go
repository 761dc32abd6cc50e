package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// TestMain runs the tests, or a program that stands between paw and a CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "__launcher" {
		launcherPrograms[os.Args[2]](os.Args[3:])
	}
	catchSignals()
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // most of these tests wait for tmux or for programs rather than compute
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if built != "" {
		os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(code)
}

// catchSignals makes SIGINT and SIGHUP work in the programs that tests start, even if the test
// process ignores these signals, as under nohup(1) or after & in a script: execve(2) keeps an
// ignored signal ignored, but resets a caught one.
func catchSignals() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// built is the path of paw with fail points, "" before a test has needed it.
var built string

// pawForTests returns the path of paw with fail points. The first call builds it, and puts its
// folder on PATH, with git-paw. The test binary could be paw as well, but takes twice as long to
// start, a tenth of the time of all these tests.
var pawForTests = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "pawbin")
	if err != nil {
		panic(err)
	}
	built = filepath.Join(dir, "paw")
	args := []string{"build", "-tags", "failpoints", "-ldflags", "-s -w -X testing.testBinary=1", "-o", built}
	if raceDetected {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	if err := os.Symlink("paw", filepath.Join(dir, "git-paw")); err != nil {
		panic(err)
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return built
})

// testBinary returns the path of this program, which is also the programs between paw and a CLI.
func testBinary() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}
