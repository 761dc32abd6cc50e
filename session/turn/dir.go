package turn

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Dir is the folder of an agent's turn logs. The folder may be missing.
type Dir struct{ Path string }

// LogName returns the file name of a turn's log, such as turn-003-prompt.log.
func LogName(number int, typ Type) string { return fmt.Sprintf("turn-%03d-%s.log", number, typ) }

// ParseLogName is the reverse of LogName; ok is false for any other name.
func ParseLogName(name string) (number int, typ Type, ok bool) {
	rest, begins := strings.CutPrefix(name, "turn-")
	rest, ends := strings.CutSuffix(rest, ".log")
	digits, rest, cut := strings.Cut(rest, "-")
	number, err := strconv.Atoi(digits)
	typ = Type(rest)
	if !begins || !ends || !cut || err != nil || number < 1 || typ.Validate() != nil || LogName(number, typ) != name {
		return 0, "", false
	}
	return number, typ, true
}

// file is one turn log in the folder.
type file struct {
	number int
	typ    Type
	name   string
}

// files returns the logs by number, none if the folder is missing. Other files are ignored.
func (d Dir) files() ([]file, error) {
	entries, err := os.ReadDir(d.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var found []file
	for _, entry := range entries {
		if number, typ, ok := ParseLogName(entry.Name()); ok {
			found = append(found, file{number, typ, entry.Name()})
		}
	}
	slices.SortFunc(found, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	return found, err
}

func (d Dir) record(f file) (Record, error) {
	l := newLog(filepath.Join(d.Path, f.name), f.number, f.typ)
	if err := l.load(); err != nil {
		return Record{}, err
	}
	return l.view(), nil
}

// Records returns all turns by number. Torn and foreign lines are skipped; an unreadable file gives
// an error, and the other files are still read.
func (d Dir) Records() ([]Record, []error) { return d.After(0) }

// After returns the turns with a higher number, like Records. After reads no other file.
func (d Dir) After(number int) ([]Record, []error) {
	files, err := d.files()
	if err != nil {
		return nil, []error{err}
	}
	var records []Record
	var problems []error
	for _, f := range files {
		if f.number <= number {
			continue
		}
		r, err := d.record(f)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		records = append(records, r)
	}
	return records, problems
}

// Last returns the turn with the highest number, nil if there is none. Last reads one file.
func (d Dir) Last() (*Record, error) {
	files, err := d.files()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	r, err := d.record(files[len(files)-1])
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// Backward yields the readable turns up to number, the newest first, and reads one file for each.
func (d Dir) Backward(number int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		files, err := d.files()
		if err != nil {
			return
		}
		for _, f := range slices.Backward(files) {
			if f.number > number {
				continue
			}
			if r, err := d.record(f); err == nil && !yield(r) {
				return
			}
		}
	}
}

// LastTask returns the task of the last turn up to number that has one, else "".
func (d Dir) LastTask(number int) string {
	for r := range d.Backward(number) {
		if r.Task() != "" {
			return r.Task()
		}
	}
	return ""
}

// Highest returns the highest number of a log, from the file names alone; 0 if there is none or the
// folder cannot be read.
func (d Dir) Highest() int {
	files, err := d.files()
	if err != nil || len(files) == 0 {
		return 0
	}
	return files[len(files)-1].number
}

// Asked reports whether mark was part of a prompt to the CLI. The search goes from the last turn back
// to the first whose last event was before since.
func (d Dir) Asked(mark string, since time.Time) (bool, error) {
	prompts, err := d.Prompts(since)
	return slices.ContainsFunc(prompts, func(p Prompted) bool { return strings.Contains(p.Text, mark) }), err
}

// Prompted is a text that the CLI got, which began a turn or joined one.
type Prompted struct {
	Text   string
	Turn   int
	Begins bool      // began the turn, and did not join it
	Until  time.Time // last event of the turn after that, zero where there is none
}

// Prompts returns the prompts that the CLI got, newest turn first. Answers of the CLI do not count.
// The search goes from the last turn back to the first whose last event was before since.
func (d Dir) Prompts(since time.Time) (all []Prompted, err error) {
	files, err := d.files()
	if err != nil {
		return nil, err
	}
	var until time.Time
	for _, f := range slices.Backward(files) {
		r, err := d.record(f)
		if errors.Is(err, os.ErrNotExist) {
			continue // The log was purged meanwhile.
		}
		if err != nil {
			return nil, err
		}
		if r.Prompt != "" {
			all = append(all, Prompted{Text: string(r.Prompt), Turn: r.Number, Begins: true, Until: until})
		}
		for _, text := range r.Joined {
			all = append(all, Prompted{Text: text, Turn: r.Number, Until: until})
		}
		if r.LastEventAt.Before(since) {
			break
		}
		until = r.LastEventAt
	}
	return all, nil
}
