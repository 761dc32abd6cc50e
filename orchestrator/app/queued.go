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

// Queued is a prompt that paw typed while a turn ran, and that the agent's CLI has not begun yet.
type Queued struct {
	Path string // file with the prompt
	Text string
	at   time.Time
}

// queuedMargin is subtracted from the time of a prompt's file: the prompt may have begun a turn
// shortly before the file was written.
const queuedMargin = time.Second

// queuedTexts is the pattern of the files of queued prompts; their names sort by age.
const queuedTexts = "queued-*.txt"

// KeepQueued saves a prompt that the CLI has queued behind the running turn: the CLI keeps the
// prompt in memory only.
func (t Texts) KeepQueued(session, agent, prompt string) error {
	waits := t.QueuedPrompts(session, agent)
	for _, one := range t.keptQueued(session, agent) {
		if !slices.ContainsFunc(waits, func(w Queued) bool { return w.Path == one.Path }) {
			_ = os.Remove(one.Path) // the prompt has arrived
		}
	}
	_, err := keepText(t.Paths.AgentDir(session, agent), "queued-"+t.Now().UTC().Format("20060102T150405.000000000")+"-*.txt", prompt)
	return err
}

// QueuedPrompts returns the prompts that wait in the agent's CLI behind a turn, or were lost when
// that turn was cut: no turn has asked them. After any other end of a turn the CLI has gone on with
// its queue, or its user has emptied it.
func (t Texts) QueuedPrompts(session, agent string) []Queued {
	kept := t.keptQueued(session, agent)
	if len(kept) == 0 {
		return nil
	}
	dir := turnDir(t.Paths, session, agent)
	last, err := dir.Last()
	if err != nil || last == nil || last.State != turn.InProgress && !last.Cut() {
		return nil
	}
	return slices.DeleteFunc(kept, func(one Queued) bool {
		asked, err := dir.Asked(strings.TrimSpace(one.Text), one.at)
		return asked || err != nil
	})
}

// QueuedNext reports whether the agent's CLI is about to begin a prompt that was queued behind its
// last turn: that turn has ended less than patience ago, and no turn has asked the prompt yet.
func (t Texts) QueuedNext(session, agent string, patience time.Duration) bool {
	kept := t.keptQueued(session, agent)
	if len(kept) == 0 {
		return false
	}
	dir := turnDir(t.Paths, session, agent)
	last, err := dir.Last()
	if err != nil || last == nil || last.EndedAt == nil || last.Cut() || t.Now().Sub(*last.EndedAt) > patience {
		return false
	}
	return slices.ContainsFunc(kept, func(one Queued) bool {
		if last.StartedAt.After(one.at.Add(queuedMargin)) {
			return false
		}
		asked, err := dir.Asked(strings.TrimSpace(one.Text), one.at)
		return err == nil && !asked
	})
}

// LostPrompts returns the queued prompts that the agent's CLI has lost: the turn that they waited
// behind or a later one was cut, and no turn has asked them since. A prompt behind a running turn
// is not lost.
func (t Texts) LostPrompts(session, agent string) []Queued {
	kept := t.keptQueued(session, agent)
	if len(kept) == 0 {
		return nil
	}
	dir := turnDir(t.Paths, session, agent)
	records, _ := dir.Records()
	return slices.DeleteFunc(kept, func(one Queued) bool {
		since := 0 // index of the turn that the prompt waited behind
		for i, r := range records {
			if !r.StartedAt.After(one.at.Add(queuedMargin)) {
				since = i
			}
		}
		asked, err := dir.Asked(strings.TrimSpace(one.Text), one.at)
		return asked || err != nil || !slices.ContainsFunc(records[min(since, len(records)):], turn.Record.Cut)
	})
}

// IsLost reports whether a prompt is one of LostPrompts.
func (t Texts) IsLost(session, agent string, one Queued) bool {
	return slices.ContainsFunc(t.LostPrompts(session, agent), func(other Queued) bool { return other.Path == one.Path })
}

// QueuedAgain marks a prompt as queued behind the turn that runs now.
func (t Texts) QueuedAgain(one Queued) error { return os.Chtimes(one.Path, t.Now(), t.Now()) }

// keptQueued returns all saved prompts, also those that have arrived.
func (t Texts) keptQueued(session, agent string) (all []Queued) {
	paths, _ := filepath.Glob(filepath.Join(t.Paths.AgentDir(session, agent), queuedTexts))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err == nil && statErr == nil {
			all = append(all, Queued{path, string(text), info.ModTime().Add(-queuedMargin)})
		}
	}
	return all
}

// StillQueued describes the queued prompts of an agent in one line, with the command that types
// them again; "" for none.
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
