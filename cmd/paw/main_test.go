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
	"sync/atomic"
	"syscall"
	"testing"
)

// TestMain runs the tests, or a program that stands between paw and a CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "__launcher" {
		launcherPrograms[os.Args[2]](os.Args[3:])
	}
	beLate()
	catchSignals()
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // most of these tests wait for tmux or for programs rather than compute
		_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	for _, dir := range []string{scratch, onDisk} {
		if dir != "" {
			os.RemoveAll(dir)
		}
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

// scratch is the folder of all worlds, "" before the first. A program that a test has killed may
// write into its world after the world is gone: the folder is removed when all tests have ended.
var scratch string

var makeScratch = sync.OnceFunc(func() {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		panic(err)
	}
	scratch = dir
})

var scratchFolders atomic.Int64

// scratchFolder makes a folder for a world, with a short path: the path of a socket may have about
// 100 bytes.
func scratchFolder() (string, error) {
	makeScratch()
	dir := filepath.Join(scratch, strconv.FormatInt(scratchFolders.Add(1), 10))
	return dir, os.Mkdir(dir, 0o700)
}

// pawForTests returns the path of paw with fail points. The first call builds it, and puts its
// folder on PATH, with git-paw. The test binary could be paw as well, but takes twice as long to
// start, a tenth of the time of all these tests.
var pawForTests = sync.OnceValue(func() string {
	dir, err := scratchFolder()
	if err != nil {
		panic(err)
	}
	built := filepath.Join(dir, "paw")
	args := []string{"build", "-tags", "failpoints", "-ldflags", "-s -w -X testing.testBinary=1", "-o", built}
	if raceDetected {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	if program, err := copyOnDisk(built); err == nil {
		built, dir = program, filepath.Dir(program)
	}
	if err := os.Symlink("paw", filepath.Join(dir, "git-paw")); err != nil {
		panic(err)
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return built
})

// onDisk is the folder of a copy of paw, "" for none.
var onDisk string

// copyOnDisk copies a program onto a disk, and returns the path of the copy. A program in memory
// (tmpfs), where the worlds are, takes a fifth longer to start, page by page.
func copyOnDisk(program string) (string, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	if onDisk, err = os.MkdirTemp("/var/tmp", "paw"); err != nil {
		return "", err
	}
	onIt := filepath.Join(onDisk, filepath.Base(program))
	if err := os.WriteFile(onIt, content, 0o700); err != nil {
		return "", err
	}
	return onIt, exec.Command(onIt, "version").Run() // no program may be run from some disks
}

// testBinary returns the path of this program, which is also the programs between paw and a CLI.
func testBinary() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}
