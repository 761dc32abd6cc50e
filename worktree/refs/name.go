package refs

import (
	"fmt"
	"strings"
)

// longestComponent leaves room for ".lock" in a file name of 255 bytes.
const longestComponent = 250

// CheckBranchName applies the rules of git-check-ref-format(1) for a branch. CheckBranchName also
// refuses names that these allow and nobody means: "@", "refs/heads/x", and names too long for a
// file.
func CheckBranchName(name string) error {
	if problem := branchProblem(name); problem != "" {
		return fmt.Errorf("branch name %q: %s", name, problem)
	}
	return nil
}

func branchProblem(name string) string {
	switch {
	case name == "":
		return "empty"
	case name == "@" || name == "HEAD":
		return "reserved by git"
	case strings.HasPrefix(name, "-"):
		return "begins with a dash"
	case strings.HasPrefix(name, "refs/"):
		return "a full ref name, give the branch alone"
	case strings.Contains(name, ".."):
		return "contains .."
	case strings.Contains(name, "@{"):
		return "contains @{"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	case strings.ContainsAny(name, " ~^:?*[\\"):
		return "contains a blank or one of ~ ^ : ? * [ \\"
	}
	for i := 0; i < len(name); i++ {
		if name[i] < 0x20 || name[i] == 0x7f {
			return "contains a control character"
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "has an empty part between slashes"
		case strings.HasPrefix(part, "."):
			return "has a part that begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			return "has a part that ends with .lock"
		case len(part) > longestComponent:
			return fmt.Sprintf("has a part longer than %d bytes", longestComponent)
		}
	}
	return ""
}
