package landing

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"paw/orchestrator/errs"
)

// few names the first files and counts the others.
func few[F any](files []F, most int) string {
	var names []string
	for _, one := range files[:min(len(files), most)] {
		names = append(names, onOneLine(fmt.Sprint(one)))
	}
	if more := len(files) - most; more > 0 {
		names = append(names, errs.Counted(more, "other file"))
	}
	return strings.Join(names, ", ")
}

// onOneLine quotes a file name that contains control characters.
func onOneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// namedPaths limits the files that a message names.
const namedPaths = 5
