package git

import (
	"path/filepath"
	"strings"
)

// In runs git in the worktree at path. Without the worktree's .git file git would search the
// directories above, and act on another checkout; GIT_CEILING_DIRECTORIES prevents that.
func In(path string) Repo {
	return Repo{Dir: path}.WithEnv("GIT_CEILING_DIRECTORIES=" + filepath.Dir(path))
}

// quiet lists settings under which git runs no hooks of the user, trusts no file watcher or
// untracked cache, and writes no shared index file, as needed for private indexes.
var quiet = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false",
	"-c", "diff.orderFile=/dev/null", // git fails if the user's file is missing
}

// Quietly adds quiet to the arguments of a git command.
func Quietly(args ...string) []string { return append(append([]string{}, quiet...), args...) }

// QuotedPath quotes a path that contains the separator of path lists.
func QuotedPath(path string) string {
	if !strings.ContainsAny(path, `:"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// NulTerminated writes names as git commands with -z read them.
func NulTerminated(names []string) []byte { return []byte(strings.Join(names, "\x00") + "\x00") }

// NulSeparated splits the output of a git command with -z.
func NulSeparated(out string) []string {
	if out = strings.TrimSuffix(out, "\x00"); out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}
