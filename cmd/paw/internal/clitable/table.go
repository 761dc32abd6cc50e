package main

import (
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/cli"
)

// row is one scenario.
type row struct {
	group string // the test that all CLIs' tests of the scenario are part of, such as "TestCLIs"
	label string
	cells map[string]result  // by CLI
	times map[string]float64 // of those that ran, in seconds
}

// table is what became of the tests of one set.
type table struct {
	clis   []string
	rows   []*row
	others []*test  // failed ones that are of no CLI
	failed []*test  // without those that only contain a failed one
	missed []string // that were to run, and never began
	ran    int      // tests of CLIs that ended, skipped ones included
}

// newTable sorts the tests by scenario and CLI. Those that were to run and had no turn are missed, unless some of them is known.
func newTable(tests []*test, missed []string) table {
	t := table{}
	for _, looked := range cli.LookedAts() {
		t.clis = append(t.clis, looked.CLI)
	}
	for _, one := range tests {
		if !blamed(one, tests) {
			continue
		}
		if one.result == resultFail {
			t.failed = append(t.failed, one)
		}
		label, clis := place(one.name, t.clis)
		if len(clis) == 0 && one.result == resultFail {
			t.others = append(t.others, one)
		}
		if len(clis) > 0 {
			t.ran++
		}
		for _, cli := range clis {
			r := t.row(one, label)
			r.cells[cli], r.times[cli] = one.result, one.elapsed
		}
	}
	t.markNotRun(tests)
	for _, name := range missed {
		if !slices.ContainsFunc(tests, func(one *test) bool { return one.name == name }) {
			t.miss(name)
		}
	}
	return t
}

// miss takes a test that never began, with all that it has for its CLI in the tests of the others.
func (t *table) miss(name string) {
	t.missed = append(t.missed, name)
	group, cli, ofCLI := strings.Cut(name, "/")
	if !ofCLI {
		return
	}
	inGroup := func(r *row) bool { return r.group == group }
	if !slices.ContainsFunc(t.rows, inGroup) {
		t.row(&test{name: name}, strings.TrimPrefix(group, "Test"))
	}
	for _, r := range t.rows {
		if inGroup(r) && r.cells[cli] == resultNone {
			r.cells[cli] = resultNotRun
		}
	}
}

// blamed reports whether a test stands for itself: it has no subtests, or failed although none of them did.
func blamed(one *test, all []*test) bool {
	parent := false
	for _, other := range all {
		inside := other != one && (one.name == "" || strings.HasPrefix(other.name, one.name+"/"))
		if inside && other.result == resultFail {
			return false
		}
		parent = parent || inside
	}
	return !parent || one.result == resultFail
}

// place is the label of a test's scenario, and the CLIs that it is of.
func place(name string, known []string) (label string, clis []string) {
	parts := strings.Split(name, "/")
	label = strings.TrimPrefix(parts[0], "Test")
	for _, part := range parts[1:] {
		if slices.Contains(known, part) {
			clis = append(clis, part)
			continue
		}
		words := strings.Split(part, "_")
		label += ": " + strings.Join(words, " ")
		for _, word := range words {
			if slices.Contains(known, word) && !slices.Contains(clis, word) {
				clis = append(clis, word)
			}
		}
	}
	return label, clis
}

func (t *table) row(one *test, label string) *row {
	group, _, _ := strings.Cut(one.name, "/")
	for _, r := range t.rows {
		if r.label == label {
			return r
		}
	}
	r := &row{group: group, label: label, cells: map[string]result{}, times: map[string]float64{}}
	for _, cli := range t.clis {
		r.cells[cli] = resultNone
	}
	t.rows = append(t.rows, r)
	return r
}

// cell returns the table's text for a CLI: the result, and the time where it took half a second or more.
func (r *row) cell(cli string) string {
	if r.times[cli] < 0.5 || r.cells[cli] == resultSkip {
		return string(r.cells[cli])
	}
	return fmt.Sprintf("%s %.0fs", r.cells[cli], r.times[cli])
}

// markNotRun tells a scenario that a CLI does not have from one that was not reached, as the CLI's tests had failed before.
func (t *table) markNotRun(tests []*test) {
	for _, one := range tests {
		group, cli, _ := strings.Cut(one.name, "/")
		if one.result != resultFail || !slices.Contains(t.clis, cli) {
			continue
		}
		for _, r := range t.rows {
			if r.group == group && r.cells[cli] == resultNone {
				r.cells[cli] = resultNotRun
			}
		}
	}
}
