package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/worktree"
)

// Exit codes of a launcher that did not become the CLI (EX_TEMPFAIL and
// EX_PROTOCOL of sysexits.h, which no CLI uses for itself).
const (
	exitLaunchOver    = 75 // somebody else runs or withdrew this launch
	exitLaunchRefused = 76 // this launch cannot become the CLI
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

func (p *Paw) launchPath(sessionName, agentName string, generation int) string {
	return filepath.Join(p.Paths.LaunchDir(), sessionName, fmt.Sprintf("%s-%d.json", agentName, generation))
}

// launchPlace is the end of every launchPath: the environment of a pane, which is that of the tmux server, does not say
// where the folders of the paw are that wrote the launch.
func launchPlace(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("/launch/%s/%s-%d.json", sessionName, agentName, generation)
}

// failurePath is where a launcher that gave up says why.
func (p *Paw) failurePath(sessionName, agentName string) string {
	return filepath.Join(p.Paths.LaunchDir(), sessionName, agentName+".failed")
}

// promptPath keeps the first prompt of an agent until its first launch.
func (p *Paw) promptPath(sessionName, agentName string) string {
	return filepath.Join(p.Paths.LaunchDir(), sessionName, agentName+".prompt")
}

// writeLaunch makes l the one launch that is open for its agent: those of
// earlier generations are withdrawn first, so a launcher that wakes up late
// finds nothing to run.
func (p *Paw) writeLaunch(l launchFile) (string, error) {
	path := p.launchPath(l.Session, l.Agent, l.Generation)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := p.withdrawLaunches(l.Session, l.Agent); err != nil {
		return "", err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return path, renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}

// withdrawLaunches deletes the launches of an agent that nobody has read yet.
func (p *Paw) withdrawLaunches(sessionName, agentName string) error {
	paths := []string{p.failurePath(sessionName, agentName)}
	for generation := range p.openLaunches(sessionName)[agentName] {
		paths = append(paths, p.launchPath(sessionName, agentName, generation))
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// launchOpen tells whether a launch of this agent waits for its launcher.
func (p *Paw) launchOpen(sessionName, agentName string, generation int) bool {
	_, err := os.Stat(p.launchPath(sessionName, agentName, generation))
	return err == nil
}

// openLaunches are the launches of a session that wait for their launchers: when
// each was written, by agent and generation.
func (p *Paw) openLaunches(sessionName string) map[string]map[int]time.Time {
	open := map[string]map[int]time.Time{}
	entries, err := os.ReadDir(filepath.Join(p.Paths.LaunchDir(), sessionName))
	if err != nil {
		return open
	}
	for _, e := range entries {
		agentName, number, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".json"), "-")
		generation, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			if open[agentName] == nil {
				open[agentName] = map[int]time.Time{}
			}
			open[agentName][generation] = info.ModTime()
		}
	}
	return open
}

// environment is what a CLI sees: the environment of the shell the user typed
// in, without git's variables and the CLIs' own marks of nesting, with what was
// recorded at the first launch and what the CLI's adapter asks for.
func (p *Paw) environment(s *session.Session, w *session.Worktree, generation int, c agent.Command) []string {
	set := map[string]string{}
	for _, kv := range agent.Scrub(p.Env) {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	for name, value := range w.Environment {
		if set[name] = value; value == "" {
			delete(set, name)
		}
	}
	for _, kv := range c.Env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	for _, name := range c.Unset {
		delete(set, name)
	}
	set["PAW_SESSION"], set["PAW_AGENT"] = s.Name, w.Agent
	set["PAW_LAUNCH"] = launchID(s.Name, w.Agent, generation)
	set["PWD"] = w.WorktreePath
	return sortedEnv(set)
}

// terminalVariables describe the pane, not the shell the user typed in.
var terminalVariables = []string{"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "COLUMNS", "LINES"}

// RunAgent is the launcher: the process of an agent's pane until it execs the
// CLI. It takes the agent lock, so that the lock lives exactly as long as the
// CLI, makes sure that it stands in the agent's own worktree and not in the
// user's checkout, and returns only when it could not start the CLI, with the
// exit code to end with. It reads no configuration: a mistake in a file must not
// keep an agent from coming back.
func RunAgent(sessionName, agentName string, generation int, path string, step func(string)) (int, error) {
	if place := launchPlace(sessionName, agentName, generation); !strings.HasSuffix(filepath.Clean(path), place) {
		return exitLaunchRefused, failf(KindUsage, "%s: not the file of a launch, which ends in %s", path, place)
	}
	code, err := launch(sessionName, agentName, generation, path, step)
	if code == exitLaunchRefused {
		// The pane shows the reason, and so does paw status.
		failed := strings.TrimSuffix(path, fmt.Sprintf("-%d.json", generation)) + ".failed"
		_ = os.WriteFile(failed, []byte(err.Error()), 0o600)
	}
	return code, err
}

func launch(sessionName, agentName string, generation int, path string, step func(string)) (int, error) {
	l, err := readLaunch(path)
	if err != nil {
		_ = os.Remove(path) // it may hold keys all the same
		return exitLaunchOver, failf(KindRefused, "%s: this launch is over: %w", agentName, err).hint("paw recover %s", sessionName)
	}
	if l.Session != sessionName || l.Agent != agentName || l.Generation != generation {
		return exitLaunchRefused, failf(KindRefused, "%s: %s is the launch of another agent", agentName, path)
	}
	holder, err := session.ThisProcess()
	if err != nil {
		_ = os.Remove(path)
		return exitLaunchRefused, err
	}
	holder.Session, holder.Agent, holder.Generation, holder.At = sessionName, agentName, generation, time.Now().UTC()
	holder.Prompted = l.Prompted
	lock, err := session.Locks{Dir: l.LocksDir}.HoldAgent(sessionName, agentName, holder)
	if err != nil {
		_ = os.Remove(path)
		return exitLaunchOver, failf(KindLocked, "%s: already running: %w", agentName, err).hint("paw status %s", sessionName)
	}
	defer lock.Close()
	// Whoever deletes the file owns the launch: a later recover withdraws it.
	if err := os.Remove(path); err != nil {
		return exitLaunchOver, failf(KindRefused, "%s: this launch is over: %w", agentName, err).hint("paw recover %s", sessionName)
	}
	if err := worktree.Verify(l.Worktree, l.GitCommonDir, ""); err != nil {
		return exitLaunchRefused, failf(KindRefused, "%s: not started: %w", agentName, err).hint("paw recover %s", sessionName)
	}
	if err := os.Chdir(l.Worktree); err != nil {
		return exitLaunchRefused, err
	}
	prompt, _ := os.ReadFile(l.PromptFile)
	if l.PromptFile != "" {
		_ = os.Remove(l.PromptFile) // from here on the CLI has the prompt
	}
	if step != nil {
		step("launch.exec")
	}
	err = syscall.Exec(l.Argv[0], l.Argv, paneEnvironment(l.Env))
	if len(prompt) > 0 {
		_ = writePrivate(l.PromptFile, prompt) // it has not
	}
	return exitLaunchRefused, failf(KindMissing, "%s: %w", l.Argv[0], err).hint("paw clis")
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

// paneEnvironment replaces the terminal variables of the user's shell with those of this pane.
func paneEnvironment(env []string) []string {
	set := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	for _, name := range terminalVariables {
		if value, ok := os.LookupEnv(name); ok {
			set[name] = value
		} else {
			delete(set, name)
		}
	}
	return sortedEnv(set)
}
