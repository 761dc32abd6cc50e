package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/session/turn"
)

// Queued is a prompt that paw typed while a turn ran, and that the agent's CLI has not begun with.
type Queued struct {
	Path string // of the file that keeps it
	Text string
	at   time.Time
}

// queuedMargin is how long before the time of its file a prompt may have begun a turn.
const queuedMargin = time.Second

// queuedTexts is the pattern of the files of queued prompts, the oldest first.
const queuedTexts = "queued-*.txt"

// KeepQueued keeps a prompt that the CLI has taken behind the turn that runs: the CLI has it in its memory alone.
func (h *App) KeepQueued(session, agent, prompt string) error {
	waits := h.QueuedPrompts(session, agent)
	for _, one := range h.keptQueued(session, agent) {
		if !slices.ContainsFunc(waits, func(w Queued) bool { return w.Path == one.Path }) {
			_ = os.Remove(one.Path) // it has arrived: it would be kept for nothing
		}
	}
	_, err := h.KeepText(session, agent, "queued-"+h.Now().UTC().Format("20060102T150405.000000000")+"-*.txt", prompt)
	return err
}

// QueuedPrompts are the prompts that wait in the agent's CLI behind a turn, or that were lost when that turn was cut: no turn began with
// them, and none that ran has them. After any other end of a turn the CLI has gone on with them, or its user has dropped them.
func (h *App) QueuedPrompts(session, agent string) []Queued {
	kept := h.keptQueued(session, agent)
	if len(kept) == 0 {
		return nil
	}
	dir := h.TurnDir(session, agent)
	last, err := dir.Last()
	if err != nil || last == nil || last.State != turn.InProgress && !last.Cut() {
		return nil
	}
	return slices.DeleteFunc(kept, func(one Queued) bool {
		asked, err := dir.Asked(strings.TrimSpace(one.Text), one.at)
		return asked || err != nil
	})
}

// LostPrompts are the queued prompts that the agent's CLI has dropped: a turn was cut that began before they were queued or after it,
// and none has asked them since. What waits behind a turn that runs is not lost.
func (h *App) LostPrompts(session, agent string) []Queued {
	kept := h.keptQueued(session, agent)
	if len(kept) == 0 {
		return nil
	}
	dir := h.TurnDir(session, agent)
	records, _ := dir.Records()
	return slices.DeleteFunc(kept, func(one Queued) bool {
		since := 0 // index of the turn that it waited behind
		for i, r := range records {
			if !r.StartedAt.After(one.at.Add(queuedMargin)) {
				since = i
			}
		}
		asked, err := dir.Asked(strings.TrimSpace(one.Text), one.at)
		return asked || err != nil || !slices.ContainsFunc(records[min(since, len(records)):], turn.Record.Cut)
	})
}

// IsLost reports whether a prompt still is one of LostPrompts.
func (h *App) IsLost(session, agent string, one Queued) bool {
	return slices.ContainsFunc(h.LostPrompts(session, agent), func(other Queued) bool { return other.Path == one.Path })
}

// QueuedAgain keeps a prompt for the turn that the CLI has taken it behind now.
func (h *App) QueuedAgain(one Queued) error { return os.Chtimes(one.Path, h.Now(), h.Now()) }

// keptQueued are all prompts that were kept, also those that have arrived since.
func (h *App) keptQueued(session, agent string) (all []Queued) {
	paths, _ := filepath.Glob(filepath.Join(h.StateDir(session, agent), queuedTexts))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err == nil && statErr == nil {
			all = append(all, Queued{path, string(text), info.ModTime().Add(-queuedMargin)})
		}
	}
	return all
}

// StillQueued says in a line which prompts of an agent are queued, and what types them again; "" for none.
func StillQueued(session, agent string, all []Queued) string {
	if len(all) == 0 {
		return ""
	}
	var texts []string
	for _, one := range all {
		texts = append(texts, `"`+display.Graphemes.Cut(display.FirstLine(one.Text), 60)+`"`)
	}
	verb, them := "was", "it"
	if len(all) > 1 {
		verb, them = "were", "them"
	}
	return errs.Counted(len(all), "prompt") + " " + verb + " still queued: " + strings.Join(texts, ", ") + "; paw send " + session + "/" + agent + " --queued sends " + them + " again"
}
