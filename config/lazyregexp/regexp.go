// Package lazyregexp compiles regular expressions on first use: compiling all of paw's at every
// start would take longer than most commands.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp returns a regular expression, which the first call compiles.
type Regexp func() *regexp.Regexp

// New returns a Regexp. An invalid pattern panics on first use, in tests already in New.
func New(pattern string) Regexp {
	r := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	if isTest(os.Args) {
		r()
	}
	return r
}

// isTest reports whether a test binary runs its tests. A test binary that plays the program paw
// compiles lazily, too.
func isTest(args []string) bool {
	return strings.HasSuffix(args[0], ".test") && len(args) > 1 && strings.HasPrefix(args[1], "-test.")
}
