package git

import (
	"slices"
	"strings"
)

// localEnv is what `git rev-parse --local-env-vars` prints, plus the variables
// git sets for its hooks, aliases and external commands, plus those that change
// how paths and revisions are read. Any of them would make a child work on
// another repository, index or file list than the one it was asked about.
var localEnv = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR",
	"GIT_CONFIG",
	"GIT_CONFIG_COUNT",
	"GIT_CONFIG_PARAMETERS",
	"GIT_DIR",
	"GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE",
	"GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS",
	"GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX",
	"GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",

	"GIT_ATTR_SOURCE",
	"GIT_CEILING_DIRECTORIES",
	"GIT_DISCOVERY_ACROSS_FILESYSTEM",
	"GIT_EXEC_PATH",
	"GIT_EXTERNAL_DIFF",
	"GIT_DIFF_OPTS",
	"GIT_GLOB_PATHSPECS",
	"GIT_ICASE_PATHSPECS",
	"GIT_LITERAL_PATHSPECS",
	"GIT_NAMESPACE",
	"GIT_NOGLOB_PATHSPECS",
	"GIT_QUARANTINE_PATH",
	"GIT_REFLOG_ACTION",
}

// Scrub returns env ("NAME=value" items) without the variables that tie a process to one repository: a child meant for
// another one must not inherit them.
func Scrub(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, item := range env {
		name, _, _ := strings.Cut(item, "=")
		if slices.Contains(localEnv, name) ||
			strings.HasPrefix(name, "GIT_CONFIG_KEY_") ||
			strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			continue
		}
		kept = append(kept, item)
	}
	return kept
}
