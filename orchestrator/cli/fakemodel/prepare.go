package fakemodel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CLIs lists the names that Prepare knows, except demo, which uses no model.
var CLIs = []string{"claude", "codex", "opencode", "gemini", "qwen", "copilot"}

// key is the API key of every CLI; the server accepts any.
const key = "sk-scripted-0123456789abcdefghijklmnopqrstuvwxyz"

// author is the author of all commits.
const author, authorEmail = "scripted", "scripted@localhost"

// home is a folder that Prepare makes the home of one CLI.
type home struct {
	dir     string
	repo    string // main worktree of the repository that the CLI trusts
	baseURL string // URL of the server, without a path
	err     error  // error of the first file that could not be written
}

// Prepare makes dir, which may be empty or missing, a HOME in which cli talks to the server at
// baseURL (such as "http://127.0.0.1:8765") and reaches its prompt without a dialog: no onboarding,
// login or update, and no question whether to trust repo, a main worktree, or a linked worktree of
// it. The steps write, run and commit need no permission, the step ask does. Two CLIs need options
// for that: codex to commit (--add-dir with the git directories), copilot to do anything
// (--allow-tool).
//
// It returns the whole environment of the CLI as KEY=value, except PATH and TERM, which the caller
// sets. Traffic that does not go to loopback is sent to a closed port, except that of qwen. dir
// should not be below the system's temporary folder: codex complains about that.
func Prepare(cli, dir, repo, baseURL string) (env []string, err error) {
	prepare, ok := map[string]func(*home) []string{
		"claude": (*home).claude, "codex": (*home).codex, "opencode": (*home).opencode,
		"gemini": (*home).gemini, "qwen": (*home).qwen, "copilot": (*home).copilot,
		"demo": func(*home) []string { return nil },
	}[cli]
	if !ok {
		return nil, fmt.Errorf("%s: unknown CLI, it is one of %s", cli, strings.Join(CLIs, ", ")+" or demo")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// Trust is compared with paths without symlinks.
	if repo, err = filepath.EvalSymlinks(repo); err != nil {
		return nil, err
	}
	if repo, err = filepath.Abs(repo); err != nil {
		return nil, err
	}
	h := &home{dir: dir, repo: repo, baseURL: strings.TrimSuffix(baseURL, "/")}
	env = slices.Concat(h.common(), prepare(h))
	if cli != "qwen" { // qwen sends all traffic to a proxy, even what NO_PROXY names
		env = append(env, confined...)
	}
	return env, h.err
}

// common writes the git configuration and returns the variables that every CLI gets.
func (h *home) common() []string {
	h.write(".gitconfig", fmt.Sprintf("[user]\n\tname = %s\n\temail = %s\n[init]\n\tdefaultBranch = main\n", author, authorEmail))
	return []string{
		"HOME=" + h.dir,
		"XDG_CONFIG_HOME=" + filepath.Join(h.dir, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(h.dir, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(h.dir, ".local", "state"),
		"XDG_CACHE_HOME=" + filepath.Join(h.dir, ".cache"),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(h.dir, ".gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1",
	}
}

// confined sends traffic that does not go to loopback to a closed port. Programs read either
// spelling.
var confined = []string{
	"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1,localhost",
}

// write writes a file of the home, and makes the folders above it.
func (h *home) write(name, content string) {
	if h.err != nil {
		return
	}
	file := filepath.Join(h.dir, name)
	if h.err = os.MkdirAll(filepath.Dir(file), 0o700); h.err == nil {
		h.err = os.WriteFile(file, []byte(content), 0o600)
	}
}

func (h *home) writeJSON(name string, value object) {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // cannot happen: the value is built above
	}
	h.write(name, string(content)+"\n")
}
