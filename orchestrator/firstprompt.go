package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"paw/orchestrator/agent"
	"paw/session"
)

// canOnlyBeSent tells whether a CLI refuses a first prompt as an argument, such
// as one of more than 128 KiB on Linux, but takes it typed.
func canOnlyBeSent(err error) bool {
	var refused *agent.PromptError
	return errors.As(err, &refused) && refused.Send
}

// keepPrompts keeps one prompt for all agents of a session.
func (p *Paw) keepPrompts(s *session.Session, agents []session.Worktree, prompt string) error {
	for _, w := range agents {
		if err := p.keepPrompt(s, w, prompt); err != nil {
			return err
		}
	}
	return nil
}

// keepPrompt saves the first prompt of an agent until its launcher has run. It
// is called under the session's lock, before the record names the agent: of two
// paws that want one name, only that which gets it writes.
func (p *Paw) keepPrompt(s *session.Session, w session.Worktree, prompt string) error {
	if prompt == "" {
		return nil
	}
	path := p.promptPath(s.Name, w.Agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(prompt), 0o600)
}

// sendFirstPrompts types the first prompts that could not be arguments. A prompt
// stays in its file until the CLI has it.
func (p *Paw) sendFirstPrompts(ctx context.Context, s *session.Session, jobs []job, launched map[string]int) {
	for i := range jobs {
		j := &jobs[i]
		if _, ok := launched[j.agent]; !ok || !j.sendIt || !j.starts() {
			continue
		}
		p.say("%s: sending the first prompt once it is ready", j.agent)
		path := p.promptPath(s.Name, j.agent)
		if _, err := p.sendPrompt(ctx, s, j.agent, j.prompt, true); err != nil {
			j.notes = append(j.notes, "its first prompt was not sent ("+err.Error()+"); it is kept in "+path)
			continue
		}
		_ = os.Remove(path)
	}
}
