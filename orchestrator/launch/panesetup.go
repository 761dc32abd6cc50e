package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// setUp describes the set-up of a new worktree for the launcher, which copies and links files of the
// main checkout and runs worktree.setup before it executes the CLI. The launcher reads no
// configuration: a setUp has all that it needs, and is a part of the launch file.
type setUp struct {
	Session    string            `json:"session"`
	Agent      string            `json:"agent"`
	Worktree   string            `json:"worktree"`
	Locks      string            `json:"locks"`   // folder of the locks
	Records    string            `json:"records"` // folder of the records
	Repository gitdir.Repository `json:"repository"`
	Copy       []string          `json:"copy,omitempty"`
	Link       []string          `json:"link,omitempty"`
	Include    bool              `json:"include,omitempty"`
	Command    string            `json:"command,omitempty"`
	Env        []string          `json:"env"` // of the command
	Found      string            `json:"found"`
	Notes      string            `json:"notes"` // file for what could not be done
	Fixed      []string          `json:"fixed"` // variables that keep their values, whatever is in the file Found
	Seconds    int               `json:"seconds"`
	Failed     string            `json:"failed,omitempty"` // as recorded
}

// setUpOf returns the set-up of an agent. Files are copied from the main checkout of the repository
// from, and command starts the agent's CLI: variables that it sets are not overruled.
func setUpOf(a app.Agent, from gitdir.Repository, command cli.Command) (*setUp, error) {
	found, notes := a.App.FoundPath(a.Session.Name, a.Record.Name), a.App.SetUpNotesPath(a.Session.Name, a.Record.Name)
	if err := os.MkdirAll(filepath.Dir(found), 0o700); err != nil {
		return nil, err
	}
	for _, path := range []string{found, notes} { // those of an earlier set-up do not count any more
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return nil, err
		}
	}
	fixed := slices.Concat(command.Unset, slices.Collect(maps.Keys(a.Record.Environment)), slices.Collect(maps.Keys(app.Variables(command.Env))),
		[]string{"PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH", "PWD"})
	s := a.Setup(nil)
	return &setUp{
		Session: a.Session.Name, Agent: a.Record.Name, Worktree: a.Record.WorktreePath, Locks: a.App.Paths.LocksDir(),
		Repository: from, Copy: s.Copy, Link: s.Link, Include: s.Include, Command: s.Command, Env: a.SetupEnv(), Found: found, Notes: notes,
		Fixed: fixed, Seconds: a.App.Config.Worktree.SetupSeconds, Records: a.App.Store.Dir, Failed: a.Record.SetUpFailed,
	}, nil
}

// shownOfCommand is how many columns of a set-up command the agent's state shows.
const shownOfCommand = 60

// words describe the set-up in the agent's lock.
func (u *setUp) words() string {
	if u == nil {
		return ""
	}
	return setUpWords(u.Command)
}

func setUpWords(command string) string {
	return display.Graphemes.Cut(display.OneLine(cmp.Or(command, "copies files")), shownOfCommand)
}

// errEnded means that a signal has ended the set-up, as paw stop does.
var errEnded = errors.New("its set-up was ended")

// inPane runs the set-up of a launch, and returns the environment of the CLI, env, with the variables
// that the set-up has found out. Until it is over, the lock is not inherited: the command may leave
// a server running. A signal to the launcher ends the command's whole process group.
func (u *setUp) inPane(lock *os.File, env []string) ([]string, error) {
	session.KeepBack(lock)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP, syscall.SIGTERM, os.Interrupt)
	defer stop()
	failed := u.run(ctx)
	if ctx.Err() != nil {
		return nil, errEnded
	}
	if failed != u.Failed {
		if err := u.record(ctx, failed); err != nil {
			u.note("how it ended is not recorded: " + err.Error())
		}
	}
	if failed != "" {
		return nil, errs.New(errs.Failed, "%s: set-up failed (%s)", u.Agent, failed).Hint("paw setup %s/%s", u.Session, u.Agent)
	}
	env = u.withFound(env) // before the end is told: a command that waits reads what was noted
	if err := session.NoteSetUp(lock, time.Now().UTC()); err != nil {
		return nil, err
	}
	return env, session.PassOn(lock)
}

// run runs the set-up and returns how it has failed, "" for a success.
func (u *setUp) run(ctx context.Context) (failed string) {
	brief, cancel := context.WithTimeout(ctx, time.Duration(u.Seconds)*time.Second)
	defer cancel()
	env := paneEnvironment(u.Env)
	for _, kv := range env { // git, which knows what may be copied, is found by them
		name, value, _ := strings.Cut(kv, "=")
		_ = os.Setenv(name, value)
	}
	what := worktree.Setup{Copy: u.Copy, Link: u.Link, Include: u.Include, Command: u.Command, Env: append(env, "PAW_ENV="+u.Found), Out: os.Stdout}
	what.Announce = func(command string) { fmt.Fprintf(os.Stdout, "paw: set-up: %s\n", display.OneLine(command)) }
	what.Copied = func(all []string) { fmt.Fprintf(os.Stdout, "paw: set-up: %s\n", copiedWords(all)) }
	if term.IsTerminal(int(os.Stdin.Fd())) {
		what.Terminal = os.Stdin
	}
	for _, problem := range (&worktree.Setups{Repository: u.Repository}).SetUp(brief, u.Worktree, what) {
		if problem.Err != nil {
			failed = display.OneLine(problem.What)
		} else {
			u.note(problem.String())
		}
	}
	if brief.Err() != nil {
		failed = fmt.Sprintf("not done after %d seconds, worktree.setup_seconds", u.Seconds)
	}
	return failed
}

// record writes into the agent's entry of the record how the set-up has failed.
func (u *setUp) record(ctx context.Context, failed string) error {
	brief, cancel := context.WithTimeout(ctx, app.LockWait)
	defer cancel()
	store := session.Store{Dir: u.Records, LocksDir: u.Locks}
	_, err := store.Update(brief, u.Session, func(rec *session.Session) error {
		if w := rec.Agent(u.Agent); w != nil {
			w.SetUpFailed = failed
		}
		return nil
	})
	return err
}

// note shows on the pane what the set-up could not do, and keeps it for a command that waits.
func (u *setUp) note(text string) {
	fmt.Fprintf(os.Stderr, "paw: note: set-up: %s\n", text)
	if f, err := os.OpenFile(u.Notes, os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, display.OneLine(text))
		f.Close()
	}
}

// withFound adds what the set-up has found out to the environment of the CLI.
func (u *setUp) withFound(env []string) []string {
	found, problems := app.FoundIn(u.Found)
	for _, problem := range problems {
		u.note(problem)
	}
	if len(found) > 0 {
		fmt.Fprintf(os.Stdout, "paw: set-up has set %s\n", strings.Join(slices.Sorted(maps.Keys(found)), ", "))
	}
	set := app.Variables(env)
	for name, value := range found {
		if !slices.Contains(u.Fixed, name) {
			set[name] = value
		}
	}
	return app.Environment(set)
}

// namedCopies is how many copied paths are named.
const namedCopies = 5

// copiedWords lists the copied paths.
func copiedWords(all []string) string {
	if rest := len(all) - namedCopies; rest > 0 {
		all = append(slices.Clone(all[:namedCopies]), fmt.Sprintf("and %d others", rest))
	}
	return strings.Join(all, ", ") + " copied"
}
