package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config"
	"paw/config/disk"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Fill adds to an agent the variables of worktree.env that it does not have yet, with their
// placeholders filled in. Existing ones never change, even if the configuration does: a teardown
// has to find what the set-up has made. problems names variables that cannot be filled in.
func (a Agent) Fill() (problems []string) {
	filling := config.Filling{Session: a.Session.Name, Agent: a.Record.Name, Repo: a.Session.ProjectName, Worktree: a.Record.WorktreePath}
	if a.Record.Ports != nil {
		filling.FirstPort, filling.Ports = a.Record.Ports.First, a.Record.Ports.Count
	}
	set := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(a.App.Config.Worktree.Env)) {
		value, ok := filling.Fill(a.App.Config.Worktree.Env[name])
		if _, there := a.Record.Variables[name]; !ok && !there {
			problems = append(problems, fmt.Sprintf("%s is not set: it wants more ports than %s has", name, a.Record.Name))
		} else if !there {
			set[name] = value
		}
	}
	if len(set) > 0 {
		maps.Copy(set, a.Record.Variables)
		a.Record.Variables = set
	}
	return problems
}

// FoundPath returns the file whose path a set-up command gets as $PAW_ENV.
func (h *App) FoundPath(sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "setup.env")
}

// SetUpNotesPath returns the file with what the set-up of an agent could not do, one note a line.
func (h *App) SetUpNotesPath(sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "setup.notes")
}

// largestFound is how many bytes a set-up may write to $PAW_ENV.
const largestFound = 64 << 10

// Found returns the variables that the agent's set-up wrote to $PAW_ENV, and the problems of other
// lines.
func (h *App) Found(sessionName, agentName string) (variables map[string]string, problems []string) {
	return FoundIn(h.FoundPath(sessionName, agentName))
}

// FoundIn is Found for the file that was $PAW_ENV.
func FoundIn(path string) (variables map[string]string, problems []string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil
	}
	if len(text) > largestFound {
		return nil, []string{fmt.Sprintf("what set-up wrote to $PAW_ENV is more than %d KiB, and does not count", largestFound>>10)}
	}
	variables = map[string]string{}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		name, value, err := config.ProjectVariable(string(line))
		if err != nil {
			problems = append(problems, fmt.Sprintf("line %d of what set-up wrote to $PAW_ENV does not count: %v", i+1, err))
			continue
		}
		variables[name] = value
	}
	return variables, problems
}

// Setup returns the configured set-up for the worktree of an agent; out gets the output of its
// command.
func (a Agent) Setup(out io.Writer) worktree.Setup {
	c := a.App.Config.Worktree
	setup := worktree.Setup{Copy: c.Copy, Link: c.Link, Include: c.Include, Command: c.Setup, Out: out}
	if len(c.Env) > 0 {
		setup.For = fmt.Sprint(c.Ports, c.Env)
	}
	if c.Setup == "" {
		return setup
	}
	found := a.App.FoundPath(a.Session.Name, a.Record.Name)
	setup.Env = append(a.SetupEnv(), "PAW_ENV="+found)
	setup.Announce = func(command string) {
		a.App.Sayf("%s: %s", a.Record.Name, command)
		if err := WritePrivate(found, nil); err != nil { // variables of an earlier set-up do not count any more
			a.App.Notef("%s: set-up cannot tell variables: %v", a.Record.Name, err)
		}
	}
	return setup
}

// SetupEnv returns the environment of the agent's set-up command, without $PAW_ENV.
func (a Agent) SetupEnv() []string { return a.App.projectEnv(a.Record.Variables) }

// ProjectVariables returns the variables that an agent has in addition to those of the user's
// shell: from worktree.env, and from its set-up.
func (a Agent) ProjectVariables() map[string]string {
	set := map[string]string{}
	maps.Copy(set, a.Record.Variables)
	found, _ := a.App.Found(a.Session.Name, a.Record.Name)
	maps.Copy(set, found)
	return set
}

// UserEnv returns the user's environment. Where an agent runs paw, the agent's project variables
// are removed from it.
func (h *App) UserEnv() []string {
	name := h.Getenv("PAW_SESSION")
	if name == "" || session.ValidateName("session", name) != nil {
		return h.Env
	}
	s, err := h.Store.Load(name)
	if err != nil || s == nil || s.Agent(h.Getenv("PAW_AGENT")) == nil {
		return h.Env
	}
	return h.Agent(s, s.Agent(h.Getenv("PAW_AGENT"))).WithoutProject(h.Env)
}

// WithoutProject removes an agent's project variables from an environment: an agent that it starts
// gets its own.
func (a Agent) WithoutProject(env []string) []string {
	own := a.ProjectVariables()
	if len(own) == 0 {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		mine, has := own[name]
		return has && mine == value
	})
}

// ProjectEnv returns the environment of a command that the project runs for an agent: the user's,
// without the variables that identify an agent to paw, and with the agent's project variables.
func (a Agent) ProjectEnv() []string {
	return a.App.projectEnv(a.ProjectVariables())
}

func (h *App) projectEnv(variables map[string]string) []string {
	set := Variables(cli.Without(cli.Scrub(h.UserEnv()), []string{"PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH"}))
	maps.Copy(set, variables)
	return Environment(set)
}

// Variables converts KEY=value entries to a map.
func Variables(env []string) map[string]string {
	set := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	return set
}

// Environment converts a map to KEY=value entries, sorted.
func Environment(set map[string]string) []string {
	env := make([]string, 0, len(set))
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Specs tells the drivers of CLIs about agents.
type Specs struct{ app *App }

// Specs returns what tells the drivers of CLIs about agents.
func (h *App) Specs() Specs {
	return Specs{h}
}

// WithProgram extends PATH by the folder of the agent's program in a command, if it is not on it: its interpreter may
// lie in the same folder.
func (p Specs) WithProgram(env []string, w *session.Agent, command ...string) []string {
	c, known := p.app.CLIs.Get(w.CLI)
	if !known || !filepath.IsAbs(command[0]) {
		return env
	}
	executable := command[0]
	if at := programIn(command, c); at >= 0 {
		executable = command[at]
	}
	if _, err := cli.LookPath(c.Program(), env); err == nil {
		return env
	}
	folders := append(filepath.SplitList(cli.Getenv(env, "PATH")), filepath.Dir(executable))
	return append(slices.Clip(env), "PATH="+strings.Join(folders, string(filepath.ListSeparator)))
}

// Launch returns what a CLI's driver needs for a launch of the agent.
func (p Specs) Launch(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := p.Read(s, w, executable)
	spec.Env = p.WithProgram(spec.Env, w, executable)
	if repository, err := gitdir.Discover(w.WorktreePath); err == nil {
		spec.GitDir = repository.GitDir
	}
	return spec
}

// Read is like Launch, without the fields that need a look at the worktree: enough to read a CLI's
// files, and fast enough for status.
func (p Specs) Read(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := cli.Spec{
		Executable: executable, Worktree: w.WorktreePath, RepoPath: s.RepoPath, GitCommonDir: s.GitCommonDir,
		StateDir: p.app.Paths.AgentDir(s.Name, w.Name), ConversationID: w.Conversation(), Env: p.recordedEnv(w),
		Agent: w.Name, Hook: p.app.Executable, Since: w.CreatedAt, Look: p.app.Look, GitWritable: p.app.Config.CLIs[w.CLI].GitWritable,
	}
	if spec.Since.IsZero() {
		spec.Since = s.CreatedAt
	}
	if c, known := p.app.CLIs.Get(w.CLI); known {
		return c.Extend(spec)
	}
	return spec
}

// Draft returns a Spec for an agent that does not exist yet, to ask a driver whether it can
// take the prompt.
func (p Specs) Draft(c cli.CLI, executable, prompt string) cli.Spec {
	return c.Extend(cli.Spec{
		Executable: executable, Worktree: p.app.Dir, RepoPath: p.app.Dir, ConversationID: c.NewConversation(), Prompt: prompt, Env: p.app.Env,
		StateDir: p.app.Paths.AgentDir("draft", c.Name()), GitWritable: p.app.Config.CLIs[c.Name()].GitWritable,
	})
}

// recordedEnv returns the user's environment with the variables recorded at the first launch.
func (p Specs) recordedEnv(w *session.Agent) []string {
	env := append([]string{}, p.app.Env...)
	for name, value := range p.Recorded(w) {
		env = append(env, name+"="+value)
	}
	return env
}

// Recorded returns the variables recorded at the first launch, which decide where the CLI looks for its conversations. A
// folder that is gone, as after the home was moved, gives way to the one of the user's environment.
func (p Specs) Recorded(w *session.Agent) map[string]string {
	recorded, set := maps.Clone(w.Environment), Variables(p.app.Env)
	for name, folder := range recorded {
		if filepath.IsAbs(folder) && !disk.Exists(folder) && disk.Exists(set[name]) {
			recorded[name] = set[name]
		}
	}
	return recorded
}

// Remembered returns the variables to record, which a resume needs again. An unset one
// is recorded as empty: it must not be set later either.
func (p Specs) Remembered(cli cli.CLI) map[string]string {
	env, set := map[string]string{}, Variables(p.app.Env)
	for _, name := range cli.Facts().Environment {
		env[name] = set[name]
	}
	return env
}

// Teardown is the command that runs in a worktree before it is removed.
type Teardown struct {
	Command   string
	Untrusted string // command of the repository that does not run because the user has not trusted it
}

// Teardown returns the configured command; nothing if none is set (--no-teardown).
func (h *App) Teardown(none bool) Teardown {
	t := Teardown{Command: h.Config.Worktree.Teardown}
	for _, c := range h.Config.Untrusted {
		if c.Key == "worktree.teardown" {
			t.Untrusted = c.Text
		}
	}
	if none {
		return Teardown{}
	}
	return t
}

// Line describes in a plan what runs in an agent's worktree, "" for nothing.
func (t Teardown) Line(agentName string) string {
	switch {
	case t.Command != "":
		return agentName + ": run its teardown: " + oneLine(t.Command)
	case t.Untrusted != "":
		return fmt.Sprintf("%s: worktree.teardown of the repository is not trusted and does not run: %s (%s)", agentName, oneLine(t.Untrusted), errs.Line("paw config trust"))
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// tornPath returns the file that marks an agent whose teardown has begun, for a paw that finishes
// an interrupted removal.
func (h *App) tornPath(sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "teardown")
}

// TeardownBegan reports whether the teardown of an agent has begun, in an interrupted removal.
func (h *App) TeardownBegan(sessionName, agentName string) bool {
	return disk.Exists(h.tornPath(sessionName, agentName))
}

// shownOfTeardown limits the lines that are shown of a failed teardown's output.
const shownOfTeardown = 10

// TearDown runs the teardown command in the worktree of an agent that has ended. After an error the
// worktree must stay.
func (a Agent) TearDown(ctx context.Context, t Teardown) error {
	if t.Command == "" {
		if t.Untrusted != "" {
			a.App.Notef("%s", t.Line(a.Record.Name))
		}
		return nil
	}
	mark := a.App.tornPath(a.Session.Name, a.Record.Name)
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(mark, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	a.App.Step("teardown.begun")
	a.App.Sayf("%s: %s", a.Record.Name, oneLine(t.Command))
	seconds := a.App.Config.Worktree.TeardownSeconds
	brief, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	err = a.Repo.Setups().TearDown(brief, a.Record.WorktreePath, t.Command, out, a.ProjectEnv())
	if err == nil {
		a.App.Step("teardown.done")
		return nil
	}
	a.App.tellEnd(a.Record.Name, mark)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("not done after %d seconds (worktree.teardown_seconds)", seconds)
	}
	_ = os.Remove(mark) // leftovers of the teardown count as the agent's files from now on
	return errs.New(errs.Failed, "%s: not removed, its teardown failed: %s: %w", a.Record.Name, oneLine(t.Command), err)
}

// tellEnd shows the last lines of a teardown's output.
func (h *App) tellEnd(agentName, file string) {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines[max(0, len(lines)-shownOfTeardown):] {
		if line != "" {
			h.Sayf("%s | %s", agentName, line)
		}
	}
}

// ForgetWorktree deletes paw's files about the worktree of a removed agent.
func (h *App) ForgetWorktree(sessionName, agentName string) error {
	for _, path := range []string{h.FoundPath(sessionName, agentName), h.SetUpNotesPath(sessionName, agentName), h.tornPath(sessionName, agentName)} {
		if err := disk.RemoveFile(path); err != nil {
			return err
		}
	}
	return nil
}

// ForgetAgent deletes paw's files about the worktree of an agent whose start is taken back, and the
// agent's folder if it is empty.
func (h *App) ForgetAgent(sessionName, agentName string) {
	_ = h.ForgetWorktree(sessionName, agentName)
	_ = os.Remove(h.StateDir(sessionName, agentName))
	_ = os.Remove(filepath.Dir(h.StateDir(sessionName, agentName)))
}
