package main

import (
	"strings"
	"testing"
)

// A table without room for all columns leaves out the least important columns first; a table with
// room leaves out none.
func TestTablesFit(t *testing.T) {
	rows := [][]cell{
		heads("N", "OUTCOME", "COMMIT", "FILES", "PROMPT"),
		texts("1", "success", "2b3814e76e", "12 files", "make the parser strict, and say so"),
		texts("2", "interrupted"),
	}
	for width, want := range map[int]string{
		100: "N OUTCOME COMMIT FILES PROMPT", 62: "N OUTCOME COMMIT FILES PROMPT", 61: "N OUTCOME FILES PROMPT", 49: "N OUTCOME PROMPT", 40: "N OUTCOME PROMPT", 20: "N OUTCOME PROMPT",
	} {
		var heads []string
		fit := fitting(rows, width, []string{"COMMIT", "NOSUCH", "FILES"})
		for _, c := range fit[0] {
			heads = append(heads, c.text)
		}
		if got := strings.Join(heads, " "); got != want || len(fit[2]) != 2 {
			t.Errorf("%d columns: %s, want %s", width, got, want)
		}
		for _, line := range plainRun().tableOf(fit, "", width) {
			if columns.Width(line) > width {
				t.Errorf("%d columns: %s", width, line)
			}
		}
	}
	if len(rows[1]) != 5 {
		t.Error("the table itself was changed")
	}
}
