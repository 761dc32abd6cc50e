package fakemodel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CLIs are the names that Prepare knows, but for demo, which talks to no model.
var CLIs = []string{"claude", "codex", "opencode", "gemini", "qwen", "copilot"}

// key is the API key of every CLI. The server takes any.
const key = "sk-scripted-0123456789abcdefghijklmnopqrstuvwxyz"

// author makes the commits.
const author, authorEmail = "scripted", "scripted@localhost"

// home is a folder that is going to be the home of one CLI.
type home struct {
	dir     string
	repo    string // the repository that the CLI trusts, its main worktree
	baseURL string // of the server, without a path
	err     error  // of the first file that could not be written
}

// Prepare makes the folder dir, which may be empty or missing, a HOME in which cli talks to the server at baseURL (such
// as "http://127.0.0.1:8765") and reaches its prompt without a dialog: no onboarding, no login, no update, and no question
// whether repo, the main worktree of a repository, or a linked one is to be trusted. The steps write, run and commit need
// no permission, the step ask does. Two CLIs need options for that: codex to commit (--add-dir with the git
// directories), copilot to do anything (--allow-tool).
//
// It returns the whole environment of the CLI, as KEY=value, but for PATH and TERM, which are the caller's. Traffic of
// all but qwen that does not go to loopback is sent to a closed port. dir should not lie in the system's folder for
// temporary files, of which codex complains.
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
	// Trust is compared with paths as the kernel knows them.
	if repo, err = filepath.EvalSymlinks(repo); err != nil {
		return nil, err
	}
	if repo, err = filepath.Abs(repo); err != nil {
		return nil, err
	}
	h := &home{dir: dir, repo: repo, baseURL: strings.TrimSuffix(baseURL, "/")}
	env = slices.Concat(h.common(), prepare(h))
	if cli != "qwen" { // it sends everything to a proxy, also what NO_PROXY names
		env = append(env, confined...)
	}
	return env, h.err
}

// common is for every CLI: where things are kept and who commits.
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

// confined sends what does not go to loopback to a closed port. The variables exist in both spellings.
var confined = []string{
	"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1,localhost",
}

// write makes a file of the home, with the folders above it.
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
		panic(fmt.Sprintf("%s: %v", name, err)) // made here
	}
	h.write(name, string(content)+"\n")
}
