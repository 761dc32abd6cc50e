package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// prepareLaunch writes the launch file of one agent and returns the pane that runs it.
func prepareLaunch(ctx context.Context, h *app.App, s *session.Session, j *Job, generation int) (tmux.AgentPane, error) {
	w := s.Agent(j.Agent)
	cli, executable, err := h.ProgramOf(w)
	if err != nil {
		return tmux.AgentPane{}, err
	}
	spec := h.Specs().Launch(s, w, executable)
	command, err := cli.Resume(spec)
	j.sendIt = j.Prompt != ""
	if j.Kind == ResultFresh {
		spec.Prompt = j.Prompt
		command, err = freshCommand(ctx, h.Agent(s, w), cli, spec, j)
		if j.sendIt = CanOnlyBeSent(err); j.sendIt {
			spec.Prompt = ""
			command, err = freshCommand(ctx, h.Agent(s, w), cli, spec, j)
		}
	}
	if err == nil && j.sendIt {
		err = h.Texts().TypeFirst(s.Name, w.Name)
	}
	if err != nil {
		return tmux.AgentPane{}, errs.New(errs.Failed, "%s: %w", w.Name, err)
	}
	for _, file := range command.Files {
		if err := app.WritePrivate(file.Path, file.Content); err != nil {
			return tmux.AgentPane{}, err
		}
	}
	promptFile, givenFile := promptFiles(h.Agent(s, w), cli, spec.Prompt)
	var first *setUp
	if j.setUp != nil {
		if first, err = setUpOf(h.Agent(s, w), *j.setUp, command); err != nil {
			return tmux.AgentPane{}, err
		}
	}
	path, err := writeLaunch(h, launchFile{
		Session: s.Name, Agent: w.Name, Generation: generation, Worktree: w.WorktreePath,
		GitCommonDir: s.GitCommonDir, LocksDir: h.Paths.LocksDir(), Argv: command.Argv, Env: Environment(h.Agent(s, w), generation, command),
		SetUp: first, PromptFile: promptFile, GivenFile: givenFile, Hook: h.Executable, Reports: cli.Facts().Reports, Prompted: j.Kind == ResultFresh && j.Prompt != "",
	})
	if err != nil {
		return tmux.AgentPane{}, err
	}
	w.Command = RecordedCommand(command.Argv, j.Prompt)
	return tmux.AgentPane{
		Identity: tmux.Identity{Session: s.Name, Agent: w.Name, Generation: generation},
		PawID:    s.ID,
		Argv:     []string{h.Executable, "__agent", s.Name, w.Name, fmt.Sprint(generation), path},
		Label:    tmux.Label{Text: w.Name + ": starting"},
		Worktree: w.WorktreePath,
		Refresh:  refreshCommand(h, s.Name),
	}, nil
}

// promptFiles returns the files of the first prompt that a launch delivers, "" for none: the one that it is read from, and
// the one that keeps it until a turn has begun, where the CLI's turns are seen.
func promptFiles(a app.Agent, c cli.CLI, prompt string) (read, given string) {
	if prompt == "" {
		return "", ""
	}
	if !c.Facts().Unseen {
		given = a.App.Texts().GivenPath(a.Session.Name, a.Record.Name)
	}
	return a.App.Texts().PromptPath(a.Session.Name, a.Record.Name), given
}

// RecordedCommand removes the user's first prompt from argv, which is not for the record.
func RecordedCommand(argv []string, prompt string) []string {
	if prompt == "" {
		return argv
	}
	kept := make([]string, 0, len(argv))
	for _, arg := range argv {
		option, value, isOption := strings.Cut(arg, "=")
		switch {
		case isPrompt(arg, prompt):
		case isOption && strings.HasPrefix(option, "-") && isPrompt(value, prompt):
			kept = append(kept, option)
		default:
			kept = append(kept, arg)
		}
	}
	return kept
}

// isPrompt reports whether a word is the prompt, to which some CLIs get a space added.
func isPrompt(word, prompt string) bool {
	return word == prompt || word == " "+prompt || word == prompt+" " || word == " "+prompt+" "
}

// refreshCommand returns the command that tmux runs to refresh the borders of a session while a
// terminal shows them. It sets the directories of this paw, since the tmux server may have another
// environment.
func refreshCommand(h *app.App, sessionName string) []string {
	return []string{
		"env", "HOME=" + h.Getenv("HOME"),
		"XDG_CONFIG_HOME=" + filepath.Dir(filepath.Dir(h.Paths.ConfigFile)),
		"XDG_DATA_HOME=" + filepath.Dir(filepath.Dir(h.Paths.SessionsDir)),
		"XDG_STATE_HOME=" + filepath.Dir(h.Paths.StateDir),
		h.Executable, "__borders", sessionName,
	}
}

// keepOrigins creates refs for uncommitted work that agents start from: without a ref git's garbage
// collection would remove it.
func keepOrigins(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, jobs []Job) error {
	for _, j := range jobs {
		w := s.Agent(j.Agent)
		if j.Worktree != WorktreeCreate || !keepsOrigin(w) {
			continue
		}
		if _, err := m.Refs().Create(ctx, turn.StartRef(w.TurnSession, w.From.Snapshot), w.From.Snapshot); err != nil {
			return fmt.Errorf("%s: %w", handedOver(w), err)
		}
		h.Step("spawn.kept")
	}
	return nil
}

// keepsOrigin reports whether an agent has a ref of its own for the work that it starts from.
func keepsOrigin(w *session.Agent) bool {
	return w.From != nil && w.From.Snapshot != "" && (w.Parent != "" || w.From.Agent == "" || strings.Contains(w.From.Agent, ":"))
}

// handedOver names the uncommitted work that an agent starts from.
func handedOver(w *session.Agent) string {
	switch {
	case w.From.Agent == "":
		return "what you had not committed"
	case w.Parent != "":
		return "the uncommitted work of " + w.From.Agent
	}
	return fmt.Sprintf("the uncommitted work of turn %d of %s", w.From.Turn, w.From.Agent)
}

// restoreOrigin puts the uncommitted work that an agent starts from into its new worktree, before
// anything else happens there.
func restoreOrigin(ctx context.Context, h *app.App, m *worktree.Manager, w *session.Agent, j *Job) {
	if w.From == nil || w.From.Snapshot == "" {
		return
	}
	ref := turn.RescueRef(w.TurnSession, h.Now())
	rescued, err := m.Moves().FromSnapshot(ctx, w.WorktreePath, w.From.Snapshot, ref)
	if err != nil {
		j.Refuse(fmt.Errorf("%s could not be put into its worktree: %w", handedOver(w), err))
		return
	}
	if rescued {
		j.Notes = append(j.Notes, "what an interrupted paw left in its worktree is kept in "+ref)
	}
	h.Step("worktree.from-snapshot")
}

// freshCommand returns the command for a new conversation: a fork of the conversation that the
// agent starts from, or an empty one.
func freshCommand(ctx context.Context, a app.Agent, cli cli.CLI, spec cli.Spec, j *Job) (cli.Command, error) {
	if j.forks(ctx, a, cli, spec) {
		return cli.Fork(spec, a.Record.From.Conversation)
	}
	return cli.Launch(spec)
}

// forks reports whether a new conversation is a fork of the one that the agent starts from, as long
// as the agent has had no turn, and says so in the job.
func (j *Job) forks(ctx context.Context, a app.Agent, cli cli.CLI, spec cli.Spec) bool {
	if a.Record.From == nil || a.Record.From.Conversation == "" || a.TurnDir().Highest() > 0 {
		return false
	}
	spec.ConversationID = a.Record.From.Conversation
	found, err := cli.Conversation(ctx, spec)
	switch {
	case err != nil:
		j.Notes = append(j.Notes, "it begins a fresh conversation: "+err.Error())
		return false
	case !found.Resumable:
		j.Notes = append(j.Notes, "it begins a fresh conversation: "+found.Reason)
		return false
	}
	j.Reason = "with a copy of your conversation " + spec.ConversationID
	if of := a.Record.From.Agent; of != "" {
		j.Reason = "with a copy of the conversation of " + of
	}
	return true
}

// CanOnlyBeSent reports whether the CLI refuses a first prompt as an argument, for example because
// it is longer than 128 KiB on Linux, but takes it typed.
func CanOnlyBeSent(err error) bool {
	var refused *cli.PromptError
	return errors.As(err, &refused) && refused.Send
}

// KeepPrompts saves the same first prompt for all agents of a session.
func KeepPrompts(h *app.App, s *session.Session, agents []session.Agent, prompt string) error {
	for _, w := range agents {
		if err := KeepPrompt(h.Agent(s, &w), prompt); err != nil {
			return err
		}
	}
	return nil
}

// KeepPrompt saves the first prompt of an agent until a turn has begun with it. It is called under the
// session lock before the record names the agent: of two paws that want one name only the one that
// gets it writes.
func KeepPrompt(a app.Agent, prompt string) error {
	if prompt == "" {
		return nil
	}
	return a.App.Texts().KeepFirst(a.Session.Name, a.Record.Name, prompt)
}

// NoteFirst says that recover sends the first prompt of an agent.
const NoteFirst = "its first prompt, which was never sent, goes to it once it runs"

// GiveFirst gives their first prompts to the jobs of agents that start and have never got them.
func GiveFirst(h *app.App, s *session.Session, jobs []Job) {
	for i := range jobs {
		j := &jobs[i]
		text, err := os.ReadFile(h.Texts().PromptPath(s.Name, j.Agent))
		if err == nil && j.Starts() && h.TurnDir(s.Name, j.Agent).Highest() == 0 {
			j.Prompt = string(text)
			j.Notes = slices.DeleteFunc(j.Notes, func(note string) bool { return note == observe.Undelivered(h, s, j.Agent) })
			j.Notes = append(j.Notes, NoteFirst)
		}
	}
}

// sendNext types the prompts that are kept for agents: those that could not be arguments, and those that the user has sent
// while the worktree was set up. It waits for no set-up.
func sendNext(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) {
	for _, j := range jobs {
		lock, err := h.Locks.ProbeAgent(s.Name, j.Agent)
		switch {
		case !j.launched() || len(h.Texts().Next(s.Name, j.Agent)) == 0:
		case err == nil && observe.SetsUp(lock):
			typing.SendLater(h, s.Name, j.Agent)
		default:
			h.Sayf("%s: sending its prompt once it is ready", j.Agent)
			if err := typing.SendNext(ctx, h, s, j.Agent, nil); err != nil {
				note := "its prompt was not sent (" + err.Error() + ")"
				if kept := h.Texts().Words(s.Name, j.Agent); len(kept) > 0 {
					note += "; it is kept in " + kept[0]
				}
				j.Notes = append(j.Notes, note)
			}
		}
	}
}
