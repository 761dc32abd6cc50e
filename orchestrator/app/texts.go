package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/errs"
)

// Texts are files with text of the user that no agent has got yet: the first prompt until the
// agent's launch, and in the agent's folder what was written for a running agent. The text exists
// nowhere else.
type Texts struct{ app *App }

// Texts returns access to text that no agent has got yet.
func (h *App) Texts() Texts { return Texts{h} }

const (
	commentsName = "review.json"
	draftName    = "draft.txt"
)

// keptTexts are the patterns given to KeepText, by which its files are found again.
var keptTexts = []string{"message-*.txt", "review-*.diff"}

// PromptPath returns the file of an agent's first prompt, which exists until the first launch.
func (t Texts) PromptPath(session, agent string) string {
	return filepath.Join(t.app.Paths.LaunchDir(), session, agent+".prompt")
}

// KeepFirst saves the first prompt of an agent, whole or, as where the disk is full, not at all.
func (t Texts) KeepFirst(session, agent, prompt string) error {
	path := t.PromptPath(session, agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	err := os.WriteFile(path, []byte(prompt), 0o600)
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

// GivenPath returns the file of the first prompt that an agent's CLI was started with.
func (t Texts) GivenPath(session, agent string) string {
	return filepath.Join(t.app.Paths.LaunchDir(), session, agent+".given")
}

// Given returns the file of a first prompt with which no turn has begun since the CLI was started with it, "" for
// none: the CLI may have ended before.
func (t Texts) Given(session, agent string) string {
	path := t.GivenPath(session, agent)
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if last, err := t.app.TurnDir(session, agent).Last(); err != nil || last != nil && last.StartedAt.After(info.ModTime().Add(-queuedMargin)) {
		return ""
	}
	return path
}

// DropPrompt deletes the saved first prompt of an agent: the agent is not started after all, or the prompt belongs to a task
// of the queue, and the queue types it.
func (t Texts) DropPrompt(session, agent string) {
	_ = os.Remove(t.PromptPath(session, agent))
	_ = os.Remove(t.GivenPath(session, agent))
}

// CommentsPath returns the file of comments on an agent's work that were not sent yet.
func (t Texts) CommentsPath(session, agent string) string {
	return filepath.Join(t.app.Paths.AgentDir(session, agent), commentsName)
}

// KeepText writes text that the user wrote for a command that failed into a new file of an agent,
// and returns its name. pattern is one of keptTexts, for os.CreateTemp.
func (h *App) KeepText(session, agent, pattern, text string) (string, error) {
	return keepText(h.StateDir(session, agent), pattern, text)
}

func keepText(dir, pattern, text string) (string, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil { // as where the disk is full
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// Draft returns the unsent prompt for an agent, "" for none.
func (t Texts) Draft(session, agent string) string {
	text, _ := os.ReadFile(filepath.Join(t.app.Paths.AgentDir(session, agent), draftName))
	return string(text)
}

// KeepDraft saves an unsent prompt for an agent; an empty text deletes it.
func (t Texts) KeepDraft(session, agent, text string) error {
	path := filepath.Join(t.app.Paths.AgentDir(session, agent), draftName)
	if strings.TrimSpace(text) == "" {
		return disk.RemoveFile(path)
	}
	return disk.Replace(path, []byte(text))
}

// Words returns the files with text of the user that an agent never got.
func (t Texts) Words(session, agent string) []string {
	var found []string
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			found = append(found, path)
		}
	}
	add(t.PromptPath(session, agent))
	if given := t.Given(session, agent); given != "" {
		add(given)
	}
	for _, path := range t.Next(session, agent) {
		add(path)
	}
	add(t.CommentsPath(session, agent))
	add(filepath.Join(t.app.Paths.AgentDir(session, agent), draftName))
	for _, one := range t.QueuedPrompts(session, agent) {
		add(one.Path)
	}
	for _, pattern := range keptTexts {
		texts, _ := filepath.Glob(filepath.Join(t.app.Paths.AgentDir(session, agent), pattern))
		for _, path := range texts {
			add(path)
		}
	}
	return found
}

// StrayPrompts returns the names of agents with a saved first prompt and no entry in the record:
// the paw that was adding them was killed.
func (t Texts) StrayPrompts(session string, known []string) []string {
	var agents []string
	prompts, _ := filepath.Glob(t.PromptPath(session, "*"))
	for _, path := range prompts {
		if agent := strings.TrimSuffix(filepath.Base(path), ".prompt"); !slices.Contains(known, agent) {
			agents = append(agents, agent)
		}
	}
	return agents
}

// SetWordsAside moves text of the user that an agent never got to a folder from which paw deletes
// nothing, and returns that folder, "" where there is no such text.
func (t Texts) SetWordsAside(session, agent string) (folder string, err error) {
	words := t.Words(session, agent)
	if given := t.GivenPath(session, agent); !slices.Contains(words, given) { // a turn has it
		_ = os.Remove(given)
	}
	if len(words) == 0 {
		return "", nil
	}
	folder = filepath.Join(t.app.Paths.StateDir, "kept", session+"_"+agent, t.app.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for _, path := range words {
		to := filepath.Join(folder, filepath.Base(path))
		if err := os.Rename(path, to); err != nil {
			return folder, errs.New(errs.Refused, "%s: what you wrote for it could not be kept: %w", agent, err).Hint("cat %s", errs.Quote(path))
		}
	}
	return folder, nil
}

// SetQueueAside moves the queue of a session with its prompts to a folder from which paw deletes
// nothing, and returns that folder; a queue without open prompts is deleted.
func (t Texts) SetQueueAside(session string) (folder string, err error) {
	from := t.app.Queues().Folder(session)
	if !t.app.Queues().Open(session) {
		return "", os.RemoveAll(from)
	}
	folder = filepath.Join(t.app.Paths.StateDir, "kept", session, "queue-"+t.app.Now().UTC().Format("20060102T150405.000Z"))
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return "", err
	}
	return folder, os.Rename(from, folder)
}
