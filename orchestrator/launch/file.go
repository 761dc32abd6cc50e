package launch

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
)

// launchFile hands one launch over to the pane's launcher: what to run, where
// and with which environment. It holds API keys, so it is 0600 and deleted by
// the launcher that reads it.
type launchFile struct {
	Session      string   `json:"session"`
	Agent        string   `json:"agent"`
	Generation   int      `json:"generation"`
	Worktree     string   `json:"worktree"`
	GitCommonDir string   `json:"git_common_dir"`
	LocksDir     string   `json:"locks_dir"`
	PromptFile   string   `json:"prompt_file,omitempty"` // deleted once the CLI has the prompt
	Prompted     bool     `json:"prompted,omitempty"`    // the CLI gets a first prompt, from this file or typed
	Argv         []string `json:"argv"`
	Env          []string `json:"env"`
}

// writeLaunch makes l the one launch that is open for its agent: those of
// earlier generations are withdrawn first, so a launcher that wakes up late
// finds nothing to run.
func writeLaunch(h *app.App, l launchFile) (string, error) {
	path := observe.LaunchPath(h, l.Session, l.Agent, l.Generation)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := WithdrawLaunches(h, l.Session, l.Agent); err != nil {
		return "", err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, data, 0o600) // the pane that reads it is not there yet, and dies with the power
}

// WithdrawLaunches deletes the launches of an agent that nobody has read yet.
func WithdrawLaunches(h *app.App, sessionName, agentName string) error {
	paths := []string{observe.FailurePath(h, sessionName, agentName)}
	for generation := range observe.OpenLaunches(h, sessionName)[agentName] {
		paths = append(paths, observe.LaunchPath(h, sessionName, agentName, generation))
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func readLaunch(path string) (launchFile, error) {
	var l launchFile
	data, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, err
	}
	if len(l.Argv) == 0 {
		return l, errors.New("nothing to run")
	}
	return l, nil
}
