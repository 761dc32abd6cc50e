package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
)

// nextTexts is the pattern of the files of prompts that are typed as soon as the agent's CLI takes any; their names
// sort by age.
const nextTexts = "next-*.txt"

// KeepNext saves a prompt that is to be typed behind those that are kept already.
func (t Texts) KeepNext(session, agent, prompt string) error {
	_, err := keepText(t.app.StateDir(session, agent), "next-"+t.app.Now().UTC().Format(textTime)+"-*.txt", prompt)
	return err
}

// TypeFirst makes the first prompt of an agent one that is typed, before all others that are kept.
func (t Texts) TypeFirst(session, agent string) error {
	return moveTo(filepath.Join(t.app.StateDir(session, agent), "next-0.txt"), t.PromptPath(session, agent))
}

// moveTo moves a file to another folder, which is made if it is not there.
func moveTo(to, from string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// Next returns the files of the prompts that are to be typed, the oldest first.
func (t Texts) Next(session, agent string) []string {
	paths, _ := filepath.Glob(filepath.Join(t.app.StateDir(session, agent), nextTexts))
	return paths
}

// Claim moves a prompt from those that are to be typed to those that the CLI may have queued, right before it is typed:
// paw does not type it again by itself. behind is the number of the last turn. It returns the new file.
func (t Texts) Claim(path string, behind int) (kept string, err error) {
	stamp, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "next-"), ".txt"), "-")
	kept = filepath.Join(filepath.Dir(path), fmt.Sprintf("queued-%s-behind%d-kept.txt", stamp, behind))
	if err := os.Chtimes(path, t.app.Now(), t.app.Now()); err != nil {
		return "", err
	}
	return kept, os.Rename(path, kept)
}

// Requeue leaves the prompts that are to be typed to the user, if the agent's CLI, which does not run, may have got an
// earlier one: all of them count as queued and lost, in their order.
func (t Texts) Requeue(session, agent string) error {
	given := t.Given(session, agent)
	if given == "" && len(t.LostPrompts(session, agent)) == 0 {
		return nil
	}
	behind := t.app.TurnDir(session, agent).Highest()
	if given != "" {
		if err := moveTo(filepath.Join(t.app.StateDir(session, agent), fmt.Sprintf("queued-0-behind%d-kept.txt", behind)), given); err != nil {
			return err
		}
	}
	for _, path := range t.Next(session, agent) {
		if _, err := t.Claim(path, behind); err != nil {
			return err
		}
	}
	return nil
}

// Unbegun returns how many prompts are kept that the agent's CLI has not got yet.
func (t Texts) Unbegun(session, agent string) int {
	number := len(t.Next(session, agent))
	if _, err := os.Lstat(t.PromptPath(session, agent)); err == nil {
		number++
	}
	return number
}

// Queued is a prompt that paw typed while a turn ran, and that the agent's CLI has not begun yet.
type Queued struct {
	Path   string // file with the prompt
	Text   string
	at     time.Time
	behind int // turn that ran when the prompt was typed, 0 for unknown
}

// queuedMargin is subtracted from the time of a prompt's file: the prompt may have begun a turn
// shortly before the file was written.
const queuedMargin = time.Second

// queuedTexts is the pattern of the files of queued prompts; their names sort by age.
const queuedTexts = "queued-*.txt"

// textTime is the form of a time in the names of files with texts.
const textTime = "20060102T150405.000000000"

// KeepQueued saves a prompt that the CLI has queued behind a turn: the CLI keeps the prompt in memory
// only.
func (t Texts) KeepQueued(session, agent, prompt string, behind int) error {
	waits := t.QueuedPrompts(session, agent)
	for _, one := range t.keptQueued(session, agent) {
		arrived := !slices.ContainsFunc(waits, func(w Queued) bool { return w.Path == one.Path })
		if arrived && one.behind < behind { // else the same text may come once more in this turn
			_ = os.Remove(one.Path)
		}
	}
	_, err := keepText(t.app.Paths.AgentDir(session, agent), queuedName(t.app.Now(), behind), prompt)
	return err
}

// QueuedPrompts returns the prompts that wait in the agent's CLI behind a turn, or were lost when
// that turn was cut, or the CLI ended before it took them: no turn has asked them. After any other end of a turn the
// CLI has gone on with its queue, or its user has emptied it.
func (t Texts) QueuedPrompts(session, agent string) []Queued {
	kept := t.keptQueued(session, agent)
	if len(kept) == 0 {
		return nil
	}
	dir := t.app.TurnDir(session, agent)
	last, err := dir.Last()
	if err != nil {
		return nil
	}
	if last == nil || last.State != turn.InProgress && !last.Cut() {
		kept = slices.DeleteFunc(kept, func(one Queued) bool {
			return last != nil && last.StartedAt.After(one.typed()) || !t.gone(session, agent, one)
		})
	}
	return unasked(dir, kept)
}

// typed is when the prompt was typed, or a moment later.
func (q Queued) typed() time.Time { return q.at.Add(queuedMargin) }

// gone reports whether the CLI that a prompt was typed to has ended.
func (t Texts) gone(name, agent string, one Queued) bool {
	lock, err := t.app.Locks.PeekAgent(name, agent)
	return err == nil && (lock.State == session.LockFree || lock.Holder.At.After(one.typed()))
}

// unasked returns the prompts that no turn has asked; none where the logs cannot be read. A turn asks a prompt by whole
// lines: a CLI joins the prompts that wait with newlines. A prompt whose text comes several times is asked once, and the
// text of a long prompt does not count for a short one that is a part of it.
func unasked(dir turn.Dir, kept []Queued) (waiting []Queued) {
	if len(kept) == 0 {
		return nil
	}
	oldest := slices.MinFunc(kept, func(a, b Queued) int { return a.at.Compare(b.at) })
	prompts, err := dir.Prompts(oldest.at)
	if err != nil {
		return nil
	}
	slices.Reverse(prompts)
	longestFirst := slices.Clone(kept)
	slices.SortStableFunc(longestFirst, func(a, b Queued) int { return len(b.Text) - len(a.Text) })
	asked := map[string]bool{} // by path
	for _, one := range longestFirst {
		text := strings.TrimSpace(one.Text)
		i := slices.IndexFunc(prompts, func(p turn.Prompted) bool {
			return lineOf(p.Text, text) >= 0 && (!p.Begins || p.Turn > one.behind) && (p.Until.IsZero() || !p.Until.Before(one.at))
		})
		if i >= 0 {
			asked[one.Path] = true
			at := lineOf(prompts[i].Text, text)
			prompts[i].Text = prompts[i].Text[:at] + "\x00" + prompts[i].Text[at+len(text):]
		}
	}
	return slices.DeleteFunc(slices.Clone(kept), func(one Queued) bool { return asked[one.Path] })
}

// lineOf returns where a text stands in another one as whole lines, up to blanks around them, -1 for nowhere.
func lineOf(all, text string) int {
	for from := 0; text != "" && from < len(all); from++ {
		at := strings.Index(all[from:], text)
		if at < 0 {
			return -1
		}
		from += at
		before, after := strings.TrimRight(all[:from], " \t\r"), strings.TrimLeft(all[from+len(text):], " \t\r")
		if (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || strings.HasPrefix(after, "\n")) {
			return from
		}
	}
	return -1
}

// WasQueued reports whether same holds for a prompt that paw has typed behind a turn, and the agent's CLI has queued.
func (t Texts) WasQueued(session, agent string, same func(text string) bool) bool {
	return slices.ContainsFunc(t.keptQueued(session, agent), func(one Queued) bool { return same(one.Text) })
}

// QueuedNext reports whether the agent's CLI is about to begin a prompt that was queued behind its
// last turn: that turn has ended less than patience ago, and no turn has asked the prompt yet.
func (t Texts) QueuedNext(session, agent string, patience time.Duration) bool {
	kept := t.keptQueued(session, agent)
	if len(kept) == 0 {
		return false
	}
	dir := t.app.TurnDir(session, agent)
	last, err := dir.Last()
	if err != nil || last == nil || last.EndedAt == nil || last.Cut() || t.app.Now().Sub(*last.EndedAt) > patience {
		return false
	}
	return slices.ContainsFunc(unasked(dir, kept), func(one Queued) bool { return !last.StartedAt.After(one.typed()) })
}

// LostPrompts returns the queued prompts that the agent's CLI has lost: the turn that they waited
// behind or a later one was cut, or the CLI has ended after that turn, and no turn has asked them since. A prompt
// behind a running turn is not lost.
func (t Texts) LostPrompts(session, agent string) []Queued {
	kept := t.keptQueued(session, agent)
	if len(kept) == 0 {
		return nil
	}
	dir := t.app.TurnDir(session, agent)
	records, _ := dir.Records()
	return slices.DeleteFunc(unasked(dir, kept), func(one Queued) bool {
		since := -1 // index of the turn that the prompt waited behind
		for i, r := range records {
			if !r.StartedAt.After(one.typed()) {
				since = i
			}
		}
		switch rest := records[max(since, 0):]; {
		case slices.ContainsFunc(rest, turn.Record.Cut):
			return false
		case since >= 0 && len(rest) > 1: // the same CLI has gone on without it
			return rest[1].Launch == rest[0].Launch
		case since >= 0 && rest[0].State == turn.InProgress:
			return true
		default:
			return !t.gone(session, agent, one)
		}
	})
}

// IsLost reports whether a prompt is one of LostPrompts.
func (t Texts) IsLost(session, agent string, one Queued) bool {
	return slices.ContainsFunc(t.LostPrompts(session, agent), func(other Queued) bool { return other.Path == one.Path })
}

// QueuedAgain marks a prompt as queued behind the turn that runs now.
func (t Texts) QueuedAgain(one Queued, behind int) error {
	path := filepath.Join(filepath.Dir(one.Path), strings.Replace(queuedName(t.app.Now(), behind), "*", "again", 1))
	if err := os.Rename(one.Path, path); err != nil {
		return err
	}
	return os.Chtimes(path, t.app.Now(), t.app.Now())
}

// queuedName returns the pattern of the name of a queued prompt's file.
func queuedName(at time.Time, behind int) string {
	return fmt.Sprintf("queued-%s-behind%d-*.txt", at.UTC().Format(textTime), behind)
}

// keptQueued returns all saved prompts, also those that have arrived.
func (t Texts) keptQueued(session, agent string) (all []Queued) {
	paths, _ := filepath.Glob(filepath.Join(t.app.Paths.AgentDir(session, agent), queuedTexts))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err == nil && statErr == nil {
			one := Queued{Path: path, Text: string(text), at: info.ModTime().Add(-queuedMargin)}
			_, number, _ := strings.Cut(filepath.Base(path), "-behind")
			number, _, _ = strings.Cut(number, "-")
			one.behind, _ = strconv.Atoi(number)
			all = append(all, one)
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
	return errs.Counted(len(all), "prompt") + " " + verb + " still queued: " + strings.Join(texts, ", ") + "; " + errs.Line("paw send %s/%s --queued", session, agent) + " sends " + them + " again"
}
