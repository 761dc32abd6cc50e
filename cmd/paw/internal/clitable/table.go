package main

import (
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/cli"
)

type row struct {
	group string // top-level test of the scenario, such as "TestCLIs"
	label string
	cells map[string]result  // result by CLI
	times map[string]float64 // time in seconds by CLI, of tests that ran
}

type table struct {
	clis   []string
	rows   []*row
	others []*test  // failed tests of no CLI
	failed []*test  // failed tests, without those that only contain one
	missed []string // tests that should have run and never began
	ran    int      // number of CLI tests that ended, including skipped ones
}

// newTable sorts tests by scenario and CLI. missed are tests that should have run; those that are
// among tests are ignored.
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

// miss adds a test that never began, and marks the scenarios of its CLI as not run.
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

// blamed reports whether the result of a test is its own: it has no subtests, or failed although
// none of them did.
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

// place returns the label of a test's scenario, and its CLIs.
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

// cell returns the text for a CLI: the result, and the time if that is half a second or more.
func (r *row) cell(cli string) string {
	if r.times[cli] < 0.5 || r.cells[cli] == resultSkip {
		return string(r.cells[cli])
	}
	return fmt.Sprintf("%s %.0fs", r.cells[cli], r.times[cli])
}

// markNotRun distinguishes scenarios that a CLI does not have from those it did not reach, because
// its tests had failed before.
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
