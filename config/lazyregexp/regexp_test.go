package lazyregexp

import (
	"os"
	"testing"
)

func TestPatternIsCompiledAtItsFirstUse(t *testing.T) {
	program := os.Args[0]
	t.Cleanup(func() { os.Args[0] = program })
	for name, atOnce := range map[string]bool{"paw": false, "some.test": true} {
		os.Args[0] = name
		var r *Regexp
		if panics(func() { r = New("(") }) != atOnce {
			t.Errorf("%s: a wrong pattern is found at once: %v", name, !atOnce)
		}
		if !atOnce && !panics(func() { r.MatchString("(") }) {
			t.Errorf("%s: a wrong pattern matches", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
