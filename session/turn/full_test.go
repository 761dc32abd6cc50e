package turn

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childFull writes with a limit on the size of files, which cuts a write as a full disk does: args are the folder and
// the limit in bytes. Turn 1 is noted on and aborted, turn 2 is started.
func childFull(args []string) error {
	limit, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	d := Dir{Path: args[0]}
	tr, err := Open(filepath.Join(d.Path, "turn-001-prompt.log"), time.Now)
	if err != nil {
		return err
	}
	if err := tr.Note(strings.Repeat("cut ", 1000)); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("note: %w", err)
	}
	if tr.State() != InProgress {
		return fmt.Errorf("note: the turn is %s", tr.State())
	}
	abort := &Abort{Reason: ReasonError, Message: strings.Repeat("cut ", 1000)}
	if err := tr.Abort(abort); !errors.Is(err, syscall.EFBIG) || !errors.Is(err, error(abort)) {
		return fmt.Errorf("abort: %w", err)
	}
	if again, err := Open(tr.Path(), time.Now); err != nil || tr.State() != InProgress || again.State() != InProgress {
		return fmt.Errorf("abort: the turn is %s: %w", tr.State(), err)
	}
	second := New(d, 2, time.Now)
	if err := second.Start(Start{Type: TypePrompt, Prompt: strings.Repeat("cut ", 1000)}); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("start: %w", err)
	}
	if second.State() != Initial || d.Highest() != 1 {
		return fmt.Errorf("start: %s, highest log %d", second.State(), d.Highest())
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	d := testDir(t)
	tr := started(t, d, 1)
	info, err := os.Stat(tr.Path())
	if err != nil {
		t.Fatal(err)
	}
	size := int(info.Size())
	before := readFile(t, tr.Path())
	together(t, "full", [][]string{{d.Path, strconv.Itoa(size + 30)}})
	if torn := readFile(t, tr.Path()); len(torn) != size+30 || !strings.HasPrefix(torn, before) {
		t.Fatalf("the write was not cut: %q", torn)
	}
	if err := tr.Note("there is room again"); err != nil {
		t.Fatal(err)
	}
	r, err := d.Last()
	if err != nil || r.Prompt != "do it" || len(r.Notes) != 1 || r.Notes[0] != "there is room again" {
		t.Errorf("%+v, %v", r, err)
	}
}
