package orchestrator

import (
	"context"
	"fmt"
	"os"
	"strings"

	"paw/session"
	"paw/tmux"
)

// prepareLaunch writes the launch of one agent and returns the pane that runs it.
func (p *Paw) prepareLaunch(ctx context.Context, s *session.Session, j *job, generation int) (tmux.AgentPane, error) {
	w := s.Worktree(j.agent)
	cli, executable, err := p.cliOf(w)
	if err != nil {
		return tmux.AgentPane{}, err
	}
	spec := p.spec(s, w, executable)
	command, err := cli.Resume(spec)
	if j.result == ResultFresh {
		spec.Prompt = j.prompt
		command, err = p.freshCommand(ctx, s, w, cli, spec, j)
		if j.sendIt = canOnlyBeSent(err); j.sendIt {
			spec.Prompt = ""
			command, err = p.freshCommand(ctx, s, w, cli, spec, j)
		}
	}
	if err != nil {
		return tmux.AgentPane{}, failf(KindError, "%s: %w", w.Agent, err)
	}
	for _, file := range command.Files {
		if err := writePrivate(file.Path, file.Content); err != nil {
			return tmux.AgentPane{}, err
		}
	}
	path, err := p.writeLaunch(launchFile{
		Session: s.Name, Agent: w.Agent, Generation: generation, Worktree: w.WorktreePath,
		GitCommonDir: s.GitCommonDir, LocksDir: p.Paths.LocksDir(), Argv: command.Argv, Env: p.environment(s, w, generation, command),
		PromptFile: p.promptFileFor(s, w, spec.Prompt), Prompted: j.result == ResultFresh && j.prompt != "",
	})
	if err != nil {
		return tmux.AgentPane{}, err
	}
	w.Command = recordedCommand(command.Argv, j.prompt)
	return tmux.AgentPane{
		Identity: tmux.Identity{Session: s.Name, Agent: w.Agent, Generation: generation},
		PawID:    s.ID,
		Argv:     []string{p.Executable, "__agent", s.Name, w.Agent, fmt.Sprint(generation), path},
		Label:    w.Agent + ": starting",
		Refresh:  p.refreshCommand(s.Name),
	}, nil
}

// promptFileFor is the saved first prompt that this launch delivers, if any.
func (p *Paw) promptFileFor(s *session.Session, w *session.Worktree, prompt string) string {
	if prompt == "" {
		return ""
	}
	return p.promptPath(s.Name, w.Agent)
}

// recordedCommand is the argv without the user's first prompt, which is no
// business of the record.
func recordedCommand(argv []string, prompt string) []string {
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

// isPrompt tells whether a word is the prompt, which some CLIs get with a space.
func isPrompt(word, prompt string) bool {
	return word == prompt || word == " "+prompt || word == prompt+" " || word == " "+prompt+" "
}

// undelivered says that the first prompt of an agent was never handed over.
func (p *Paw) undelivered(s *session.Session, agentName string) string {
	path := p.promptPath(s.Name, agentName)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return "its first prompt was never sent; it is kept in " + path
}
