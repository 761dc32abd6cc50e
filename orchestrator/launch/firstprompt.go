package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/typing"
	"paw/session"
)

// CanOnlyBeSent reports whether a CLI refuses a first prompt as an argument, such
// as one of more than 128 KiB on Linux, but takes it typed.
func CanOnlyBeSent(err error) bool {
	var refused *cli.PromptError
	return errors.As(err, &refused) && refused.Send
}

// KeepPrompts keeps one prompt for all agents of a session.
func KeepPrompts(h *app.App, s *session.Session, agents []session.Agent, prompt string) error {
	for _, w := range agents {
		if err := KeepPrompt(h, s, w, prompt); err != nil {
			return err
		}
	}
	return nil
}

// KeepPrompt saves the first prompt of an agent until its launcher has run. It
// is called under the session's lock, before the record names the agent: of two
// paws that want one name, only that which gets it writes.
func KeepPrompt(h *app.App, s *session.Session, w session.Agent, prompt string) error {
	if prompt == "" {
		return nil
	}
	path := h.PromptPath(s.Name, w.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(prompt), 0o600)
}

// sendFirstPrompts types the first prompts that could not be arguments. A prompt
// stays in its file until the CLI has it.
func sendFirstPrompts(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) {
	for _, j := range jobs {
		if !j.launched() || !j.sendIt {
			continue
		}
		h.Sayf("%s: sending the first prompt once it is ready", j.Agent)
		path := h.PromptPath(s.Name, j.Agent)
		if _, err := typing.Send(ctx, h, s, j.Agent, j.Prompt, true); err != nil {
			j.Notes = append(j.Notes, "its first prompt was not sent ("+err.Error()+"); it is kept in "+path)
			continue
		}
		_ = os.Remove(path)
	}
}
