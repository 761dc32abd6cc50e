package tmux

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// exiting is the kernel's PF_EXITING (include/linux/sched.h).
const exiting = 0x4

// inspect reads the name of a process from /proc/PID/stat, see proc(5). For a zombie the error is
// errNoProcess.
func inspect(pid int) (name string, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", errNoProcess
	}
	if err != nil {
		return "", err
	}
	// The file holds "pid (name) state ..."; the name may hold spaces and brackets.
	open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	if open < 0 || end < open {
		return "", fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	fields := strings.Fields(string(text[end+1:]))
	const state, flags = 0, 6
	if len(fields) <= flags {
		return "", fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return "", errNoProcess
	}
	// A dying process closes its terminals first, and becomes a zombie later.
	if bits, err := strconv.ParseUint(fields[flags], 10, 64); err == nil && bits&exiting != 0 {
		return "", errNoProcess
	}
	return string(text[open+1 : end]), nil
}

// parentOf returns the parent of a process, 0 if unknown.
func parentOf(pid int) (parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 1 {
		parent, _ = strconv.Atoi(fields[1])
	}
	return parent
}

// HasRead reports whether the program has read all that was typed; true where that cannot be told.
func (p Program) HasRead() (read bool) {
	err := p.terminal(func(fd int) error {
		left, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		read = left == 0
		return err
	})
	return read || err != nil
}

// Hides reports whether the terminal itself shows nothing of what is typed, as for a program that draws its input; false where that
// cannot be told.
func (p Program) Hides() bool { return p.mode(func(flags uint32) bool { return flags&unix.ECHO == 0 }) }

// ReadsLines reports whether the terminal hands over whole lines, as to a program that reads its input without drawing it; false where
// that cannot be told.
func (p Program) ReadsLines() bool {
	return p.mode(func(flags uint32) bool { return flags&unix.ICANON != 0 })
}

// mode asks about the local modes of the terminal, see termios(3).
func (p Program) mode(is func(flags uint32) bool) (yes bool) {
	_ = p.terminal(func(fd int) error {
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		yes = err == nil && is(mode.Lflag)
		return err
	})
	return yes
}

// terminal opens the terminal that the program reads.
func (p Program) terminal(ask func(fd int) error) error {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fd/0", p.PID), unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return ask(fd)
}
