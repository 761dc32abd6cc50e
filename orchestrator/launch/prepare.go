package launch

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/tmux"
)

// prepareLaunch writes the launch of one agent and returns the pane that runs it.
func prepareLaunch(ctx context.Context, h *app.App, s *session.Session, j *Job, generation int) (tmux.AgentPane, error) {
	w := s.Agent(j.Agent)
	cli, executable, err := h.ProgramOf(w)
	if err != nil {
		return tmux.AgentPane{}, err
	}
	spec := h.Spec(s, w, executable)
	command, err := cli.Resume(spec)
	if j.Result == ResultFresh {
		spec.Prompt = j.Prompt
		command, err = freshCommand(ctx, h, s, w, cli, spec, j)
		if j.sendIt = CanOnlyBeSent(err); j.sendIt {
			spec.Prompt = ""
			command, err = freshCommand(ctx, h, s, w, cli, spec, j)
		}
	}
	if err != nil {
		return tmux.AgentPane{}, errs.New(errs.Failed, "%s: %w", w.Name, err)
	}
	for _, file := range command.Files {
		if err := app.WritePrivate(file.Path, file.Content); err != nil {
			return tmux.AgentPane{}, err
		}
	}
	promptFile := "" // the saved first prompt that this launch delivers
	if spec.Prompt != "" {
		promptFile = h.PromptPath(s.Name, w.Name)
	}
	path, err := writeLaunch(h, launchFile{
		Session: s.Name, Agent: w.Name, Generation: generation, Worktree: w.WorktreePath,
		GitCommonDir: s.GitCommonDir, LocksDir: h.Paths.LocksDir(), Argv: command.Argv, Env: Environment(h, s, w, generation, command),
		PromptFile: promptFile, Prompted: j.Result == ResultFresh && j.Prompt != "",
	})
	if err != nil {
		return tmux.AgentPane{}, err
	}
	w.Command = RecordedCommand(command.Argv, j.Prompt)
	log := ""
	if h.Config.Tmux.Log {
		if log, err = openPaneLog(h, s.Name, w.Name); err != nil {
			j.Notes = append(j.Notes, "its pane is not logged: "+err.Error())
		}
	}
	return tmux.AgentPane{
		Identity: tmux.Identity{Session: s.Name, Agent: w.Name, Generation: generation},
		PawID:    s.ID,
		Argv:     []string{h.Executable, "__agent", s.Name, w.Name, fmt.Sprint(generation), path},
		Label:    tmux.Label{Text: w.Name + ": starting"},
		Worktree: w.WorktreePath,
		Refresh:  refreshCommand(h, s.Name),
		Log:      log,
	}, nil
}

// RecordedCommand is the argv without the user's first prompt, which is no
// business of the record.
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

// isPrompt reports whether a word is the prompt, which some CLIs get with a space.
func isPrompt(word, prompt string) bool {
	return word == prompt || word == " "+prompt || word == prompt+" " || word == " "+prompt+" "
}

// refreshCommand is the program that tmux runs to keep the borders of a session true while somebody looks at them. The
// tmux server may have another environment than this command.
func refreshCommand(h *app.App, sessionName string) []string {
	return []string{
		"env", "HOME=" + h.Getenv("HOME"),
		"XDG_CONFIG_HOME=" + filepath.Dir(filepath.Dir(h.Paths.ConfigFile)),
		"XDG_DATA_HOME=" + filepath.Dir(filepath.Dir(h.Paths.SessionsDir)),
		"XDG_STATE_HOME=" + filepath.Dir(h.Paths.StateDir),
		h.Executable, "__borders", sessionName,
	}
}
