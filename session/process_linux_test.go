package session

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 118845 3932160 421"
	tests := []struct {
		stat string
		want processFacts
		fine bool
	}{
		{"12 (sed) R" + rest, processFacts{started: 118845}, true},
		{"12 (tmux: server) S" + rest, processFacts{started: 118845}, true},
		{"12 (a) Z (b) S" + rest, processFacts{started: 118845}, true},
		{"12 () ) S" + rest, processFacts{started: 118845}, true},
		{"12 (node) Z" + rest, processFacts{started: 118845, dead: true}, true},
		{"12 (node) X" + rest, processFacts{started: 118845, dead: true}, true},
		{"12 (node) X" + strings.Replace(rest, " 1 0 118845", " 0 0 118845", 1), processFacts{started: 118845, dead: true}, true},
		{"12 (node) Z" + strings.Replace(rest, " 1 0 118845", " 2 0 118845", 1), processFacts{started: 118845}, true},
		{"12 (node) T" + rest, processFacts{started: 118845}, true},
		{"", processFacts{}, false},
		{"12 (sed)", processFacts{}, false},
		{"12 (sed) R 1 2 3", processFacts{}, false},
		{"12 (sed) R 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 -5 3932160 421", processFacts{}, false},
	}
	for _, tt := range tests {
		got, err := parseStat(tt.stat)
		if got != tt.want || (err == nil) != tt.fine {
			t.Errorf("%q: got %+v, %v", tt.stat, got, err)
		}
	}
}
