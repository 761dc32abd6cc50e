package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"paw/config/disk"

	"golang.org/x/sys/unix"
)

// BootID names this boot of the machine, "" when the system does not tell.
func BootID() string { return bootID() }

var bootID = sync.OnceValue(func() string {
	id, err := disk.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

func inspectProcess(pid int) (processFacts, error) {
	stat, err := readStat(strconv.Itoa(pid))
	if err != nil {
		return processFacts{}, err
	}
	return parseStat(stat)
}

// startedAt is when a process was started, by its start time in clock ticks since the boot: USER_HZ is 100 wherever Go runs.
func startedAt(ticks uint64) time.Time {
	var up unix.Sysinfo_t
	if err := unix.Sysinfo(&up); err != nil {
		return time.Now().UTC()
	}
	running := time.Duration(up.Uptime)*time.Second - time.Duration(ticks)*10*time.Millisecond
	return time.Now().UTC().Round(0).Add(-max(0, running))
}

// readStat reads proc_pid_stat(5).
func readStat(pid string) (string, error) {
	path := "/proc/" + pid + "/stat"
	fd, err := disk.OpenRaw(path, 0)
	if err != nil {
		return "", err
	}
	var stat [1024]byte // the kernel gives all of it at once
	n, err := rawFile(fd).ReadAt(stat[:], 0)
	_ = unix.Close(fd)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", &os.PathError{Op: "read", Path: path, Err: err}
	}
	return string(stat[:n]), nil
}

// parseStat reads fields 3 (state), 20 (threads) and 22 (start time) of proc_pid_stat(5). The state is that of the first thread: it is a
// zombie's while the others run on, or are still giving back what the process holds.
func parseStat(stat string) (processFacts, error) {
	fields := statFields(stat, 20)
	if len(fields) < 20 {
		return processFacts{}, errors.New("unexpected process status")
	}
	started, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return processFacts{}, errors.New("unexpected process status")
	}
	return processFacts{started: started, dead: ended(fields) && (fields[17] == "1" || fields[17] == "0")}, nil
}

// statFields are the first fields of proc_pid_stat(5) from the third on, that many at most: there are fifty of them, and hundreds
// of processes. The second, the program's name, may hold spaces and parentheses.
func statFields(stat string, most int) []string {
	fields := make([]string, 0, most)
	for field := range strings.FieldsSeq(stat[strings.LastIndexByte(stat, ')')+1:]) {
		if fields = append(fields, field); len(fields) == most {
			break
		}
	}
	return fields
}

// ended reports whether the first thread of a process has ended, by the fields of its status.
func ended(fields []string) bool { return fields[0] == "Z" || fields[0] == "X" }

// ignoresHangUp reads field 33 of proc_pid_stat(5), the signals that a process ignores. SIGHUP is the first of them.
func ignoresHangUp(pid int) bool {
	stat, err := readStat(strconv.Itoa(pid))
	if err != nil {
		return false
	}
	fields := statFields(stat, 31)
	if len(fields) < 31 {
		return false
	}
	ignored, err := strconv.ParseUint(fields[30], 10, 64)
	return err == nil && ignored&1 != 0
}

// ProgramName is the name of the program that a process runs, cut after 15 bytes; "" where that is not known.
func ProgramName(pid int) string {
	name, err := disk.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}

// LockHolders returns the pids of the processes that hold an flock on the file exclusively, as far as this user may see.
// The pid in /proc/locks will not do: it is that of the process that took the lock, which may have handed the
// descriptor on and died.
func LockHolders(path string) []int {
	want, err := os.Stat(path)
	if err != nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var pids []int
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err == nil && slices.ContainsFunc(openFiles(pid), func(link string) bool {
			to, err := os.Readlink(link)
			if err != nil || to != real {
				return false
			}
			info, err := os.Stat(link)
			return err == nil && os.SameFile(info, want) && locksExclusively(link)
		}) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// openFiles returns the links /proc/.../fd/N of a process. Where its first thread has ended they are those of the others.
func openFiles(pid int) []string {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(links) > 0 {
		return links
	}
	links, err = filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/fd/*", pid))
	if err != nil {
		return nil
	}
	return links
}

// locksExclusively tells by .../fdinfo/<fd> whether the descriptor .../fd/<fd> carries the lock.
func locksExclusively(link string) bool {
	info, err := disk.ReadFile(strings.Replace(link, "/fd/", "/fdinfo/", 1))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(info)) {
		if strings.HasPrefix(line, "lock:") && strings.Contains(line, "FLOCK") && strings.Contains(line, "WRITE") {
			return true
		}
	}
	return false
}
