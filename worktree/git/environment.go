package git

import (
	"slices"
	"strings"
)

// binding lists the variables that tie a process to one repository, index or object store: those of
// `git rev-parse --local-env-vars`, and those that git sets for hooks, aliases and external
// commands.
var binding = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
	"GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",

	"GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION",
}

// reading lists variables that change how git reads paths and revisions, and what it prints.
var reading = []string{
	"GIT_ATTR_SOURCE", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_GLOB_PATHSPECS",
	"GIT_ICASE_PATHSPECS", "GIT_LITERAL_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
}

// Unbound returns env ("NAME=value" items) without the variables that tie a process to one
// repository, for a process that works in another.
func Unbound(env []string) []string {
	return without(env, binding)
}

// Scrub returns env like Unbound, and without the user's variables that change how git reads and
// prints: paw's own git calls must not depend on them.
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
