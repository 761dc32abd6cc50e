package turn

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"paw/config/disk"
)

func beyondRFC3339() time.Time { return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }

func TestLogNames(t *testing.T) {
	good := map[string]struct {
		number int
		typ    Type
	}{
		"turn-001-prompt.log":            {1, "prompt"},
		"turn-999-a.log":                 {999, "a"},
		"turn-1000-prompt.log":           {1000, "prompt"},
		"turn-012-review.log.log":        {12, "review.log"},
		"turn-012-a-1-b.log":             {12, "a-1-b"},
		"turn-003-task-notification.log": {3, TypeNotification},
	}
	for name, want := range good {
		number, typ, ok := ParseLogName(name)
		if !ok || number != want.number || typ != want.typ || LogName(number, typ) != name {
			t.Errorf("%s: %d, %q, %v", name, number, typ, ok)
		}
	}
	for _, name := range []string{
		"", "turn", "turn-.log", "turn-1-prompt.log", "turn-01-prompt.log", "turn-0001-prompt.log", "turn-000-prompt.log",
		"turn--01-prompt.log", "turn-001-.log", "turn-001-Prompt.log", "turn-001-prompt.log~", "turn-001-prompt.log.bak",
		"xturn-001-prompt.log", "turn-001-prompt.txt", "turn-001-prompt", "turn-001-1.log", "turn-001-a b.log",
		"turn-99999999999999999999-prompt.log", "turn-٣٣٣-prompt.log", "turn-001-prompt.log\n", "../turn-001-prompt.log",
	} {
		if number, typ, ok := ParseLogName(name); ok {
			t.Errorf("%q: %d, %q", name, number, typ)
		}
		if _, err := Open(name, clock()); err == nil {
			t.Errorf("%q: opened", name)
		}
	}
}

func TestEmptyFolder(t *testing.T) {
	d := testDir(t)
	for range 2 { // missing, then empty
		records, problems := d.Records()
		last, err := d.Last()
		if len(records) != 0 || len(problems) != 0 || last != nil || err != nil || d.Highest() != 0 {
			t.Errorf("%v, %v, %v, %v, %d", records, problems, last, err, d.Highest())
		}
		if err := os.MkdirAll(d.Path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNumericOrder(t *testing.T) {
	d := testDir(t)
	for _, number := range []int{10, 1000, 9, 100, 1, 999} {
		started(t, d, number)
	}
	records, problems := d.Records()
	want := []int{1, 9, 10, 100, 999, 1000}
	if len(problems) != 0 || len(records) != len(want) {
		t.Fatal(records, problems)
	}
	for i, r := range records {
		if r.Number != want[i] || r.LogFile != filepath.Join(d.Path, LogName(want[i], TypePrompt)) {
			t.Errorf("%d: %+v", i, r)
		}
	}
	last, err := d.Last()
	if err != nil || last.Number != 1000 || d.Highest() != 1000 {
		t.Errorf("%+v, %v, %d", last, err, d.Highest())
	}
}

func TestOneBadFileHidesNothing(t *testing.T) {
	d := testDir(t)
	started(t, d, 1)
	started(t, d, 4)
	if err := os.Mkdir(filepath.Join(d.Path, "turn-002-prompt.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(d.Path, "turn-003-prompt.log"), 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(d.Path, "notes.txt"), "not a log")
	writeFile(t, filepath.Join(d.Path, "turn-7-prompt.log"), "not a log")
	records, problems := d.Records()
	if len(records) != 2 || records[0].Number != 1 || records[1].Number != 4 || len(problems) != 2 {
		t.Errorf("%+v, %v", records, problems)
	}
	for _, name := range []string{"turn-002-prompt.log", "turn-003-prompt.log"} {
		if _, err := Open(filepath.Join(d.Path, name), clock()); !errors.Is(err, disk.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(d.Path, "turn-005-prompt.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if last, err := d.Last(); err == nil || d.Highest() != 5 {
		t.Errorf("an older turn passed for the last one: %+v", last)
	}
	file := Dir{Path: filepath.Join(d.Path, "notes.txt")}
	if records, problems := file.Records(); len(records) != 0 || len(problems) != 1 || file.Highest() != 0 {
		t.Errorf("a file as the folder: %v, %v", records, problems)
	}
}

func TestReadingChangesNothing(t *testing.T) {
	d := testDir(t)
	tr := started(t, d, 1)
	old := time.Now().Add(-time.Hour)
	writeFile(t, tr.Path(), goldenFinished+`{"event":"NO`)
	for _, path := range []string{tr.Path(), d.Path} {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	before := readFile(t, tr.Path())
	d.Records()
	if _, err := d.Last(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(tr.Path(), clock()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{tr.Path(), d.Path} {
		if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(old) {
			t.Errorf("%s was touched: %v", path, err)
		}
	}
	if readFile(t, tr.Path()) != before {
		t.Error("reading wrote")
	}
}

func TestVanishedLogIsNotMadeAgain(t *testing.T) {
	d := testDir(t)
	tr := started(t, d, 1)
	if err := os.Remove(tr.Path()); err != nil {
		t.Fatal(err)
	}
	if err := tr.Note("x"); !errors.Is(err, os.ErrNotExist) || d.Highest() != 0 {
		t.Errorf("%v, %d", err, d.Highest())
	}
}

func TestShortenedLogIsReadAnew(t *testing.T) {
	d := testDir(t)
	tr := writeFinished(t, d)
	writeFile(t, tr.Path(), goldenFinished[:len(goldenFinished)/3])
	if err := tr.Note("x"); err != nil || tr.State() != InProgress || len(tr.Record().Notes) != 1 {
		t.Errorf("%v, %+v", err, tr.Record())
	}
}

func TestLastReadsOneFile(t *testing.T) {
	d := testDir(t)
	started(t, d, 12)
	for n := 1; n < 12; n++ { // reading any of these would block or fail
		if err := syscall.Mkfifo(filepath.Join(d.Path, "turn-0"+strconv.Itoa(100 + n)[1:]+"-prompt.log"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := d.Last(); err != nil || last.Number != 12 {
		t.Errorf("%+v, %v", last, err)
	}
}
