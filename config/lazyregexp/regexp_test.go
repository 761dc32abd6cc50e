package lazyregexp

import (
	"os"
	"strings"
	"testing"
)

func TestPatternIsCompiledAtItsFirstUse(t *testing.T) {
	args := os.Args
	t.Cleanup(func() { os.Args = args })
	for name, atOnce := range map[string]bool{"paw": false, "some.test": false, "some.test status": false, "paw -test.v": false, "some.test -test.v": true} {
		os.Args = strings.Fields(name)
		var r Regexp
		if panics(func() { r = New("(") }) != atOnce {
			t.Errorf("%s: a wrong pattern is found at once: %v", name, !atOnce)
		}
		if !atOnce && !panics(func() { r() }) {
			t.Errorf("%s: a wrong pattern matches", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
