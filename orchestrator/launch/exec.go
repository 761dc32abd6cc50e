package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
)

// Exit codes of a launcher that did not become the CLI (EX_TEMPFAIL and
// EX_PROTOCOL of sysexits.h, which no CLI uses for itself).
const (
	exitLaunchOver    = 75 // somebody else runs or withdrew this launch
	exitLaunchRefused = 76 // this launch cannot become the CLI
)

// RunAgent is the launcher: the process of an agent's pane until it execs the
// CLI. It takes the agent lock, so that the lock lives exactly as long as the
// CLI, makes sure that it stands in the agent's own worktree and not in the
// user's checkout, and returns only when it could not start the CLI, with the
// exit code to end with. It reads no configuration: a mistake in a file must not
// keep an agent from coming back.
func RunAgent(sessionName, agentName string, generation int, path string, step func(string)) (int, error) {
	if place := observe.LaunchPlace(sessionName, agentName, generation); !strings.HasSuffix(filepath.Clean(path), place) {
		return exitLaunchRefused, errs.New(errs.Usage, "%s: not the file of a launch, which ends in %s", path, place)
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
		return exitLaunchOver, errs.New(errs.Refused, "%s: this launch is over: %w", agentName, err).Hint("paw recover %s", sessionName)
	}
	if l.Session != sessionName || l.Agent != agentName || l.Generation != generation {
		return exitLaunchRefused, errs.New(errs.Refused, "%s: %s is the launch of another agent", agentName, path)
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
		return exitLaunchOver, errs.New(errs.Locked, "%s: already running: %w", agentName, err).Hint("paw status %s", sessionName)
	}
	defer lock.Close()
	// Whoever deletes the file owns the launch: a later recover withdraws it.
	if err := os.Remove(path); err != nil {
		return exitLaunchOver, errs.New(errs.Refused, "%s: this launch is over: %w", agentName, err).Hint("paw recover %s", sessionName)
	}
	if err := worktree.Verify(l.Worktree, l.GitCommonDir, ""); err != nil {
		return exitLaunchRefused, errs.New(errs.Refused, "%s: not started: %w", agentName, err).Hint("paw recover %s", sessionName)
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
		_ = app.WritePrivate(l.PromptFile, prompt) // it has not
	}
	return exitLaunchRefused, errs.New(errs.Missing, "%s: %w", l.Argv[0], err).Hint("paw clis")
}

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

// Environment is what a CLI sees: the environment of the shell the user typed
// in, without git's variables and the CLIs' own marks of nesting, with the
// variables of its project, with what was recorded at the first launch and what
// the CLI's adapter asks for.
func Environment(h *app.App, s *session.Session, w *session.Agent, generation int, c cli.Command) []string {
	set := app.Variables(h.EnvFor(cli.Scrub(h.UserEnv()), w, c.Argv[0]))
	maps.Copy(set, h.ProjectVariables(s, w))
	for name, value := range w.Environment {
		if set[name] = value; value == "" {
			delete(set, name)
		}
	}
	maps.Copy(set, app.Variables(c.Env))
	for _, name := range c.Unset {
		delete(set, name)
	}
	set["PAW_SESSION"], set["PAW_AGENT"] = s.Name, w.Name
	set["PAW_LAUNCH"] = observe.LaunchID(s.Name, w.Name, generation)
	set["PWD"] = w.WorktreePath
	return app.Environment(set)
}

// terminalVariables describe the pane, not the shell the user typed in.
var terminalVariables = []string{"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "COLUMNS", "LINES"}

// paneEnvironment replaces the terminal variables of the user's shell with those of this pane.
func paneEnvironment(env []string) []string {
	set := app.Variables(env)
	for _, name := range terminalVariables {
		if value, ok := os.LookupEnv(name); ok {
			set[name] = value
		} else {
			delete(set, name)
		}
	}
	return app.Environment(set)
}

// SettleHeadless records that agents that get no pane are complete.
func SettleHeadless(ctx context.Context, h *app.App, s *session.Session, jobs []Job) (*session.Session, error) {
	var complete []string
	for _, j := range jobs {
		if j.Result == ResultStopped && j.Worktree == WorktreeCreate {
			complete = append(complete, j.Agent)
		}
	}
	if len(complete) == 0 {
		return s, nil
	}
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, name := range complete {
			if w := rec.Agent(name); w != nil && w.Phase == session.PhaseCreating {
				w.Phase = session.PhaseStopped
			}
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	h.Step("run.agent-made")
	return saved, nil
}
