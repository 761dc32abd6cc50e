package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree/gitdir"
)

// Exit codes of a launcher that did not become the CLI (EX_TEMPFAIL and EX_PROTOCOL of sysexits.h,
// which no CLI uses).
const (
	exitLaunchOver    = 75 // another process runs this launch, or the launch was withdrawn
	exitLaunchRefused = 76 // the launch cannot become the CLI
)

// RunAgent is the launcher: the process of an agent's pane until it execs the CLI. It takes the
// agent lock, which then lasts exactly as long as the CLI, and verifies the agent's worktree, so
// that no agent runs in the user's checkout. It returns only when the CLI could not be started,
// with the exit code. It reads no configuration: a mistake there must not keep an agent from coming
// back.
func RunAgent(sessionName, agentName string, generation int, path string, step func(string)) (int, error) {
	if place := observe.LaunchPlace(sessionName, agentName, generation); !strings.HasSuffix(filepath.Clean(path), place) {
		return exitLaunchRefused, errs.New(errs.Usage, "%s: not the file of a launch, which ends in %s", path, place)
	}
	failure, _ := os.OpenFile(failureOf(path, generation), os.O_WRONLY, 0) // its exec closes the file, as the end of the launcher does
	defer failure.Close()
	code, err := launch(sessionName, agentName, generation, path, failure, step)
	switch {
	case errors.Is(err, errEnded):
		_ = os.Remove(failureOf(path, generation))
	case code == exitLaunchRefused:
		// The pane shows the reason, and paw status reads it from this file.
		leaveReason(failureOf(path, generation), strings.Join(append([]string{err.Error()}, errs.HintsOf(err)...), observe.LaunchHint))
	}
	return code, err
}

// failureOf returns observe.FailurePath from the path of a launch file.
func failureOf(path string, generation int) string {
	return strings.TrimSuffix(path, fmt.Sprintf("-%d.json", generation)) + ".failed"
}

// roomForReason is how many bytes writeLaunch keeps for the reason of a launcher that gives up.
const roomForReason = 1 << 10

// leaveReason writes over what writeLaunch has kept, and cuts off the rest only then: on a full disk there is no other room.
func leaveReason(path, reason string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.WriteString(reason); err == nil {
		_ = f.Truncate(int64(len(reason)))
	}
}

func launch(sessionName, agentName string, generation int, path string, failure *os.File, step func(string)) (int, error) {
	l, err := readLaunch(path)
	if err != nil {
		_ = os.Remove(path) // the file may still contain keys
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
	holder.Prompted, holder.Hook, holder.Reports, holder.SetUp = l.Prompted, l.Hook, l.Reports, l.SetUp.words()
	lock, err := session.Locks{Dir: l.LocksDir}.HoldAgent(sessionName, agentName, holder)
	if err != nil {
		_ = os.Remove(path)
		return exitLaunchOver, errs.New(errs.Locked, "%s: already running: %w", agentName, err).Hint("paw status %s", sessionName)
	}
	defer lock.Close()
	_ = disk.Lock(failure.Fd(), unix.LOCK_EX) // see observe.LaunchOpen
	// The launcher that deletes the file owns the launch: a later recover deletes the file to
	// withdraw it.
	if err := os.Remove(path); err != nil {
		return exitLaunchOver, errs.New(errs.Refused, "%s: this launch is over: %w", agentName, err).Hint("paw recover %s", sessionName)
	}
	if err := gitdir.Verify(l.Worktree, l.GitCommonDir, ""); err != nil {
		return exitLaunchRefused, errs.New(errs.Refused, "%s: not started: %w", agentName, err).Hint("paw recover %s", sessionName)
	}
	if err := os.Chdir(l.Worktree); err != nil {
		return exitLaunchRefused, err
	}
	if l.SetUp != nil {
		if l.Env, err = l.SetUp.inPane(lock, l.Env); errors.Is(err, errEnded) {
			return exitLaunchOver, errs.New(errs.Refused, "%s: %w", agentName, err).Hint("paw recover %s", sessionName)
		} else if err != nil {
			return exitLaunchRefused, err
		}
	}
	prompt, _ := os.ReadFile(l.PromptFile)
	// The CLI gets the prompt now. A file that is moved, there and back, needs no room on a full disk.
	moved, now := l.GivenFile != "" && os.Rename(l.PromptFile, l.GivenFile) == nil, time.Now()
	if moved {
		_ = os.Chtimes(l.GivenFile, now, now)
	} else if l.PromptFile != "" {
		_ = os.Remove(l.PromptFile)
	}
	if step != nil {
		step("launch.exec")
	}
	err = syscall.Exec(l.Argv[0], l.Argv, paneEnvironment(l.Env))
	if moved {
		_ = os.Rename(l.GivenFile, l.PromptFile)
	} else if len(prompt) > 0 {
		_ = app.WritePrivate(l.PromptFile, prompt)
	}
	return exitLaunchRefused, errs.New(errs.Missing, "%s: %w", l.Argv[0], err).Hint("paw clis")
}

// launchFile hands a launch over to the launcher in the pane: program, directory, environment. It
// contains API keys: its mode is 0600, and the launcher deletes it.
type launchFile struct {
	Session      string   `json:"session"`
	Agent        string   `json:"agent"`
	Generation   int      `json:"generation"`
	Worktree     string   `json:"worktree"`
	GitCommonDir string   `json:"git_common_dir"`
	LocksDir     string   `json:"locks_dir"`
	PromptFile   string   `json:"prompt_file,omitempty"` // deleted when the CLI is started
	GivenFile    string   `json:"given_file,omitempty"`  // written then; "" for a CLI whose turns are not seen
	Hook         string   `json:"hook,omitempty"`        // paw that the CLI's hooks run
	Reports      int      `json:"reports,omitempty"`     // see cli.Facts
	Prompted     bool     `json:"prompted,omitempty"`    // the CLI gets a first prompt, as an argument or typed
	SetUp        *setUp   `json:"set_up,omitempty"`      // what comes before the CLI; nil for nothing
	Argv         []string `json:"argv"`
	Env          []string `json:"env"`
	Raw          [][]byte `json:"raw,omitempty"` // what of the environment is not UTF-8, which JSON changes
}

// writeLaunch writes the launch file. Launches of earlier generations are withdrawn first: a
// launcher that wakes up late finds nothing to run.
func writeLaunch(h *app.App, l launchFile) (string, error) {
	path := observe.LaunchPath(h, l.Session, l.Agent, l.Generation)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := WithdrawLaunches(h, l.Session, l.Agent); err != nil {
		return "", err
	}
	if err := os.WriteFile(observe.FailurePath(h, l.Session, l.Agent), bytes.Repeat([]byte{' '}, roomForReason), 0o600); err != nil {
		return "", err
	}
	all := l.Env
	l.Env = nil
	for _, kv := range all {
		if utf8.ValidString(kv) {
			l.Env = append(l.Env, kv)
		} else {
			l.Raw = append(l.Raw, []byte(kv))
		}
	}
	data, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, data, 0o600) // no sync: after a power cut the pane that reads the file would be gone too
}

// WithdrawLaunches deletes the launch files of an agent that no launcher has read yet.
func WithdrawLaunches(h *app.App, sessionName, agentName string) error {
	paths := []string{observe.FailurePath(h, sessionName, agentName)}
	for generation := range observe.OpenLaunches(h, sessionName)[agentName] {
		paths = append(paths, observe.LaunchPath(h, sessionName, agentName, generation))
	}
	for _, path := range paths {
		if err := disk.RemoveFile(path); err != nil {
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
	for _, kv := range l.Raw {
		l.Env = append(l.Env, string(kv))
	}
	return l, nil
}

// Environment returns the environment of a CLI: that of the user's shell without git's variables
// and CLIs' marks of nesting, then the project's variables, those recorded at the first launch,
// those that the CLI's driver wants, and paw's own.
func Environment(a app.Agent, generation int, c cli.Command) []string {
	set := app.Variables(a.App.Specs().WithProgram(cli.Scrub(a.App.UserEnv()), a.Record, c.Argv...))
	maps.Copy(set, a.ProjectVariables())
	for name, value := range a.App.Specs().Recorded(a.Record) {
		if set[name] = value; value == "" {
			delete(set, name)
		}
	}
	maps.Copy(set, app.Variables(c.Env))
	for _, name := range c.Unset {
		delete(set, name)
	}
	set["PAW_SESSION"], set["PAW_AGENT"] = a.Session.Name, a.Record.Name
	set["PAW_LAUNCH"] = observe.LaunchID(a.Session.Name, a.Record.Name, generation)
	set["PWD"] = a.Record.WorktreePath
	return app.Environment(set)
}

// terminalVariables describe the pane, not the user's shell.
var terminalVariables = []string{"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "COLUMNS", "LINES"}

// paneEnvironment takes the terminal variables from the pane instead of from the user's shell.
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

// AsAgent returns h with the environment in which the agent's CLI was started, and the
// configuration for that environment, so that a new agent finds the same programs and keys. The
// environment of paw itself is no substitute: the CLI, which runs paw as a command, changes PATH and
// adds variables.
func AsAgent(a app.Agent) (*app.App, error) {
	other := *a.App
	env := EnvironmentOf(a)
	if env == nil {
		env = withProgramOf(a.Record, a.App.Env)
	}
	own := a.App.Config.CLIs[a.Record.CLI].Env // the variables of the parent's CLI are not for the child
	other.Env = slices.DeleteFunc(a.WithoutProject(clis.Inherited(env)), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, configured := own[name]
		return configured
	})
	root := ""
	if repository, err := app.Discover(a.Session); err == nil {
		root = repository.Path
	}
	return &other, other.Configure(root)
}

// withProgramOf appends the folder of the agent's program to PATH: the shell in which a CLI runs
// commands may have another PATH.
func withProgramOf(w *session.Agent, env []string) []string {
	if len(w.Command) == 0 {
		return env
	}
	path := filepath.Dir(w.Command[0])
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok && value != "" {
			path = value + string(filepath.ListSeparator) + filepath.Dir(w.Command[0])
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	return append(env, "PATH="+path)
}

// EnvironmentOf reads the environment of the agent's CLI process, nil when it cannot be read, for
// example in a sandbox that hides other processes.
func EnvironmentOf(a app.Agent) []string {
	lock, err := a.ProbeLock()
	if err != nil || lock.PID() == 0 {
		return nil
	}
	env, err := session.Environ(lock.PID())
	// A program may overwrite its environment to change its process name.
	if err != nil || !slices.Contains(env, "PAW_SESSION="+a.Session.Name) || !slices.Contains(env, "PAW_AGENT="+a.Record.Name) {
		return nil
	}
	return env
}
