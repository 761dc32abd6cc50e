package session

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
)

// BootID identifies this boot of the machine, "" if unknown.
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

// startedAt converts a start time in clock ticks since boot; USER_HZ is 100 on every platform of
// Go.
func startedAt(ticks uint64) time.Time {
	var up unix.Sysinfo_t
	if err := unix.Sysinfo(&up); err != nil {
		return time.Now().UTC()
	}
	running := time.Duration(up.Uptime)*time.Second - time.Duration(ticks)*10*time.Millisecond
	return time.Now().UTC().Round(0).Add(-max(0, running))
}

// readStat reads /proc/PID/stat, see proc_pid_stat(5).
func readStat(pid string) (string, error) {
	stat, err := disk.ReadFile("/proc/" + pid + "/stat")
	return string(stat), err
}

// parseStat reads fields 3 (state), 20 (threads) and 22 (start time) of proc_pid_stat(5). The state
// is that of the first thread, which can be a zombie while other threads still run.
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

// statFields returns up to most fields of proc_pid_stat(5), from the third on. statFields does not
// split all fifty: there are hundreds of processes. The second field, the program's name, may hold
// spaces and brackets.
func statFields(stat string, most int) []string {
	fields := make([]string, 0, most)
	for field := range strings.FieldsSeq(stat[strings.LastIndexByte(stat, ')')+1:]) {
		if fields = append(fields, field); len(fields) == most {
			break
		}
	}
	return fields
}

// ended reports whether the state field says that the first thread has ended.
func ended(fields []string) bool { return fields[0] == "Z" || fields[0] == "X" }

// ignoresHangUp reports whether a process ignores SIGHUP: the lowest bit of field 33 of
// proc_pid_stat(5).
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

// ProgramName returns the name of a process's program, cut after 15 bytes by the kernel; "" if
// unknown.
func ProgramName(pid int) string {
	name, err := disk.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}

// LockHolders returns the PIDs of processes that hold an exclusive flock on a file, as far as this
// user may see. /proc/locks is not enough: it names the process that took the lock, which may have
// passed the descriptor on and ended.
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

// openFiles returns the links /proc/PID/fd/N of a process, or those of its other threads if the
// first thread has ended.
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

// locksExclusively reports whether a descriptor carries an exclusive flock, by /proc/PID/fdinfo/N.
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

// Listeners returns the PIDs of this user's processes that listen on TCP ports from first to last,
// by port.
func Listeners(first, last int) map[int]int {
	sockets := map[string]int{} // target of a /proc/PID/fd link -> port
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text()) // proc(5): number, local address:port, remote, state, ..., inode
			if len(fields) < 10 || fields[3] != "0A" {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			if port, err := strconv.ParseInt(hex, 16, 32); err == nil && int(port) >= first && int(port) <= last {
				sockets["socket:["+fields[9]+"]"] = int(port)
			}
		}
		file.Close()
	}
	found := map[int]int{}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	for _, fd := range descriptors {
		target, err := os.Readlink(fd)
		port, listens := sockets[target]
		if err != nil || !listens || found[port] != 0 {
			continue
		}
		found[port], _ = strconv.Atoi(strings.Split(fd, "/")[2])
	}
	return found
}
