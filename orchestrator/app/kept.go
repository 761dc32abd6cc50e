package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/errs"
)

// The words of the user that wait in files: the first prompt until the launch of the agent that gets it, and below StateDir what was
// written for one that runs. None of them is anywhere else.
const (
	commentsName = "review.json"
	draftName    = "draft.txt"
)

// keptTexts are the patterns of KeepText, with which its files are found again.
var keptTexts = []string{"message-*.txt", "review-*.diff"}

// PromptPath keeps the first prompt of an agent until its first launch.
func (h *App) PromptPath(session, agent string) string {
	return filepath.Join(h.Paths.LaunchDir(), session, agent+".prompt")
}

// CommentsPath has the comments on the work of an agent that were not sent yet.
func (h *App) CommentsPath(session, agent string) string {
	return filepath.Join(h.StateDir(session, agent), commentsName)
}

// KeepText writes what the user has written for a command that failed into a new file of an agent, and returns its name.
// Pattern is that of os.CreateTemp, one of keptTexts.
func (h *App) KeepText(session, agent, pattern, text string) (string, error) {
	f, err := os.CreateTemp(h.StateDir(session, agent), pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}

// Draft is the prompt for an agent that the user turned away from, "" for none.
func (h *App) Draft(session, agent string) string {
	text, _ := os.ReadFile(filepath.Join(h.StateDir(session, agent), draftName))
	return string(text)
}

// KeepDraft keeps a prompt for an agent until it is sent; an empty one is none.
func (h *App) KeepDraft(session, agent, text string) error {
	path := filepath.Join(h.StateDir(session, agent), draftName)
	if strings.TrimSpace(text) == "" {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return disk.Replace(path, []byte(text))
}

// Words are the files with words of the user that an agent never got.
func (h *App) Words(session, agent string) []string {
	var found []string
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			found = append(found, path)
		}
	}
	add(h.PromptPath(session, agent))
	add(h.CommentsPath(session, agent))
	add(filepath.Join(h.StateDir(session, agent), draftName))
	for _, pattern := range keptTexts {
		texts, _ := filepath.Glob(filepath.Join(h.StateDir(session, agent), pattern))
		for _, path := range texts {
			add(path)
		}
	}
	return found
}

// StrayPrompts are the agents whose first prompts are kept and that are none of those in the record of their session: who spawned them
// was killed.
func (h *App) StrayPrompts(session string, known []string) []string {
	var agents []string
	prompts, _ := filepath.Glob(h.PromptPath(session, "*"))
	for _, path := range prompts {
		if agent := strings.TrimSuffix(filepath.Base(path), ".prompt"); !slices.Contains(known, agent) {
			agents = append(agents, agent)
		}
	}
	return agents
}

// SetWordsAside moves the words of the user that an agent never got to where nothing of paw deletes them, and returns that folder, ""
// where there are none.
func (h *App) SetWordsAside(session, agent string) (folder string, err error) {
	words := h.Words(session, agent)
	if len(words) == 0 {
		return "", nil
	}
	folder = filepath.Join(h.Paths.StateDir, "kept", session+"_"+agent, h.Now().UTC().Format("20060102T150405.000Z"))
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
