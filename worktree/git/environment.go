package git

import (
	"slices"
	"strings"
)

// binding are the variables that tie a process to one repository, index or object store: what `git rev-parse
// --local-env-vars` prints, and what git sets for its hooks, aliases and external commands.
var binding = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
	"GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",

	"GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION",
}

// reading are those that change how git reads paths and revisions, and what it shows.
var reading = []string{
	"GIT_ATTR_SOURCE", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_GLOB_PATHSPECS",
	"GIT_ICASE_PATHSPECS", "GIT_LITERAL_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
}

// Unbound returns env ("NAME=value" items) without the variables that tie a process to one repository: what works in
// another one must not inherit them.
func Unbound(env []string) []string {
	return without(env, binding)
}

// Scrub is Unbound, also without what changes how git reads and what it shows: a user's settings, which paw's own calls
// of git must not depend on.
func Scrub(env []string) []string {
	return without(Unbound(env), reading)
}

func without(env, names []string) []string {
	kept := make([]string, 0, len(env))
	for _, item := range env {
		name, _, _ := strings.Cut(item, "=")
		if !slices.Contains(names, name) && !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			kept = append(kept, item)
		}
	}
	return kept
}
