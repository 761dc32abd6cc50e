package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
)

// Repository is a git repository as seen from one directory. All paths are absolute, with symlinks
// resolved.
type Repository struct {
	Path      string // main worktree; "" if bare, or if its place is unknown
	CommonDir string // directory that all worktrees share, usually <Path>/.git
	Worktree  string // top level of the worktree around the directory; "" inside a git directory
	GitDir    string // git directory of that worktree
	Bare      bool
}

// Discover finds the repository that contains dir, like git, but without starting git and ignoring
// GIT_DIR and the like. A submodule is a repository of its own. The error is ErrNotRepository if
// there is none.
func Discover(dir string) (Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repository{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Repository{}, fmt.Errorf("%s: %w", dir, errors.Unwrap(err))
	}
	for at := real; ; at = filepath.Dir(at) {
		if gitDir, ok := gitDirOf(at); ok {
			return repositoryAt(at, gitDir)
		}
		if isGitDir(at) {
			return repositoryAt("", at)
		}
		if at == filepath.Dir(at) {
			return Repository{}, fmt.Errorf("%s: %w", dir, ErrNotRepository)
		}
	}
}

// gitDirOf resolves the .git directory or file of a worktree.
func gitDirOf(top string) (string, bool) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	target := dotGit
	if !info.IsDir() {
		if target, err = readGitFile(dotGit); err != nil {
			return "", false
		}
	}
	real, err := filepath.EvalSymlinks(target)
	return real, err == nil && isGitDir(real)
}

// readGitFile returns the absolute path that a .git file points to.
func readGitFile(path string) (string, error) {
	content, err := disk.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(content), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s: not a git file", path)
	}
	return absoluteFrom(filepath.Dir(path), strings.TrimLeft(strings.TrimRight(target, "\r\n"), " ")), nil
}

// isGitDir applies git's own test: a HEAD, and refs and objects here or in the common directory.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := commonDirOf(dir)
	for _, name := range []string{"refs", "objects"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

func commonDirOf(gitDir string) string {
	content, err := disk.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil || len(content) == 0 {
		return gitDir
	}
	common := absoluteFrom(gitDir, strings.TrimRight(string(content), "\r\n"))
	if real, err := filepath.EvalSymlinks(common); err == nil {
		return real
	}
	return common
}

func repositoryAt(top, gitDir string) (Repository, error) {
	r := Repository{CommonDir: commonDirOf(gitDir), Worktree: top, GitDir: gitDir}
	cfg, err := readCore(r.CommonDir)
	if err != nil {
		return Repository{}, err
	}
	r.Bare = cfg.isBare(r.CommonDir)
	switch {
	case r.Bare:
		if gitDir == r.CommonDir {
			r.Worktree = ""
		}
	case cfg.worktree != "":
		r.Path = cfg.worktree
	case filepath.Base(r.CommonDir) == ".git":
		r.Path = filepath.Dir(r.CommonDir)
	case gitDir == r.CommonDir:
		r.Path = top
	}
	return r, nil
}

func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Init makes an empty directory a repository with one empty commit, since branches need a commit to
// start from. Init continues an interrupted Init, and leaves nothing after a failure. The caller
// holds the lock of Alone. The error is *NotEmptyError if there is anything in the directory.
func Init(ctx context.Context, dir, message string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, item := range content {
		if item.Name() != ".git" {
			return &NotEmptyError{Dir: dir}
		}
	}
	repo := in(dir)
	if empty, err := Empty(dir); err != nil {
		return err
	} else if !empty {
		if _, err := repo.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); git.ExitCode(err) != 1 {
			return &NotEmptyError{Dir: dir}
		}
	}
	err = repo.Run(ctx, "init", "--quiet")
	if err == nil {
		err = firstCommit(ctx, repo, message)
	}
	if err != nil && len(content) == 0 {
		return errors.Join(err, os.RemoveAll(filepath.Join(dir, ".git")))
	}
	return err
}

// Empty reports whether a directory holds nothing, or only an empty .git folder.
func Empty(dir string) (bool, error) {
	content, err := os.ReadDir(dir)
	if err != nil || len(content) == 0 {
		return err == nil, err
	}
	if len(content) > 1 || content[0].Name() != ".git" || !content[0].IsDir() {
		return false, nil
	}
	content, err = os.ReadDir(filepath.Join(dir, ".git"))
	return err == nil && len(content) == 0, err
}

// firstCommit makes an empty commit, even if git knows no name of the user, or has no key to sign
// with.
func firstCommit(ctx context.Context, repo git.Repo, message string) error {
	commit := []string{"-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--no-verify", "--message", message}
	err := repo.Run(ctx, commit...)
	var failed *git.Error
	if errors.As(err, &failed) && (failed.Said("tell me who you are") || failed.Said("empty ident")) {
		return repo.WithEnv(snapshotAuthor...).Run(ctx, commit...)
	}
	return err
}

// Alone locks the directory itself against other paws, of any user. Init and Uninit are called
// under this lock: otherwise one paw could remove what another has begun to use. unlock is never
// nil. An error means that the directory cannot be locked.
func Alone(ctx context.Context, dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return func() {}, err
	}
	if err := waitForLock(ctx, file); err != nil {
		return func() {}, fmt.Errorf("%s: %w", dir, err)
	}
	return func() { file.Close() }, nil
}

// Uninit undoes Init for a caller that could not go on, provided that the directory holds nothing
// but the one empty commit; else the error is *NotEmptyError. The caller has held the lock of Alone
// since before Init.
func Uninit(ctx context.Context, dir string) error {
	content, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	commits, err := in(dir).Line(ctx, "rev-list", "--all", "--reflog", "--count")
	if err != nil {
		return err
	}
	files, err := in(dir).Line(ctx, "ls-tree", "HEAD")
	if err != nil {
		return err
	}
	if len(content) != 1 || content[0].Name() != ".git" || commits != "1" || files != "" || exists(filepath.Join(dir, ".git", "worktrees")) {
		return &NotEmptyError{Dir: dir}
	}
	return os.RemoveAll(filepath.Join(dir, ".git"))
}

// core holds the settings needed to find a repository. The settings are read without git, so that
// `paw status` starts no git.
type core struct {
	bare       string // value of core.bare, "" if not set
	worktree   string // value of core.worktree as an absolute path, "" if not set
	ignoreCase bool
}

func readCore(commonDir string) (core, error) {
	var c core
	perWorktree := false
	for _, name := range []string{"config", "config.worktree"} {
		if name == "config.worktree" && !perWorktree {
			break
		}
		err := eachSettingIn(filepath.Join(commonDir, name), func(key, value string) {
			switch key {
			case "core.bare":
				c.bare = value
			case "core.worktree":
				c.worktree = absoluteFrom(commonDir, value)
			case "core.ignorecase":
				c.ignoreCase = isTrue(value)
			case "extensions.worktreeconfig":
				perWorktree = isTrue(value)
			}
		})
		if err != nil {
			return core{}, err
		}
	}
	if c.worktree != "" {
		c.worktree = resolved(c.worktree)
	}
	return c, nil
}

// isBare guesses like git if core.bare is not set.
func (c core) isBare(commonDir string) bool {
	if c.bare != "" {
		return isTrue(c.bare)
	}
	return c.worktree == "" && filepath.Base(commonDir) != ".git"
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// eachSettingIn is eachSetting for a file; a missing file has no settings.
func eachSettingIn(path string, f func(key, value string)) error {
	content, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	eachSetting(string(content), f)
	return err
}

// eachSetting calls f for every "section.key" without a subsection, in lower case. A key without
// "=" has the value "true".
func eachSetting(content string, f func(key, value string)) {
	section := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			end := strings.IndexByte(line, ']')
			if end < 0 {
				continue
			}
			section = strings.ToLower(line[1:end])
			if line = strings.TrimSpace(line[end+1:]); line == "" {
				continue
			}
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			value = "true"
		}
		f(section+"."+strings.ToLower(strings.TrimSpace(key)), settingValue(value))
	}
}

// settingValue removes quotes, comments and backslashes.
func settingValue(raw string) string {
	var value strings.Builder
	quoted := false
	raw = strings.TrimSpace(raw)
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(raw):
			i++
			value.WriteByte(raw[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(value.String())
		default:
			value.WriteByte(c)
		}
	}
	return value.String()
}
