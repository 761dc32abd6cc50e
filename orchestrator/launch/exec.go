package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"paw/orchestrator/app"
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
