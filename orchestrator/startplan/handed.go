package startplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/handover"
	"paw/orchestrator/transcript"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/objects"
)

// HandOver takes the uncommitted work of the user's current checkout as the origin of new agents. It
// changes neither the checkout nor its index and stashes. It refuses work that cannot be taken
// completely, and a base that the user gave. The commit has no ref yet: a refused start leaves
// nothing, and a dry run does not even leave the commit.
func HandOver(ctx context.Context, m *worktree.Manager, base string, dryRun bool) (*Origin, error) {
	if base != "" {
		return nil, errs.New(errs.Usage, "--with-changes begins at HEAD of the checkout, not at %s", base)
	}
	if dryRun {
		reader, drop, err := m.WithScratch()
		if err != nil {
			return nil, err
		}
		defer drop()
		m = reader
	}
	place := cmp.Or(m.Repository.Worktree, m.Repository.Path)
	if place == "" {
		return nil, errs.New(errs.Usage, "--with-changes: there is no checkout here")
	}
	at, err := m.Registry().CheckoutAt(ctx, place)
	if err == nil && at == nil {
		err = errs.New(errs.Usage, "--with-changes: %s is no checkout of this repository", place)
	}
	if err != nil {
		return nil, err
	}
	shot, err := m.Snapshots().TakeOf(ctx, *at, "paw: not committed in "+place+"\n")
	look := "git -C " + errs.Quote(place) + " status"
	var conflict *git.ConflictError
	switch {
	case errors.As(err, &conflict):
		return nil, errs.New(errs.Refused, "%w", err).Hint("%s", look)
	case err != nil:
		return nil, err
	case shot.Unmerged:
		return nil, errs.New(errs.Refused, "%s: a conflict is not resolved there", place).Hint("%s", look)
	case len(shot.Submodules) > 0:
		return nil, errs.New(errs.Refused, "%s: the submodule %s has changes, which cannot be handed over", place, shot.Submodules[0]).Hint("%s", look)
	case shot.Cause != nil:
		return nil, app.Unfiltered(errs.New(errs.Refused, "%s: cannot be handed over as it is: %s: %w", place, strings.Join(shot.NotSaved, ", "), shot.Cause), look)
	}
	from := &Origin{place: place, commit: cmp.Or(shot.Head, shot.Commit), makes: "--with-changes", current: true}
	for _, path := range shot.NotSaved {
		from.notes = append(from.notes, path+" is not in the new worktrees: it is a repository of its own")
	}
	if shot.Staged {
		from.notes = append(from.notes, "what is staged in "+place+" and was changed since is in the new worktrees as it is now; "+
			"what is staged stays there alone: git -C "+errs.Quote(place)+" diff")
	}
	paths, err := m.Objects().ChangedPaths(ctx, from.commit, shot.Commit)
	if from.files = len(paths); from.files > 0 {
		from.Snapshot = shot.Commit
	}
	return from, err
}

// Steps describes the hand-over of the user's changes for a dry run.
func (from *Origin) Steps() []string {
	if from == nil || from.files == 0 {
		return nil
	}
	return []string{fmt.Sprintf("hand over what is not committed in %s: %s", from.place, errs.Counted(from.files, "file"))}
}

// Told returns notes about the hand-over of the user's changes.
func (from *Origin) Told() []string {
	if from == nil {
		return nil
	}
	if from.files == 0 {
		return append(slices.Clone(from.notes), "no file of "+from.place+" differs from HEAD")
	}
	return append(slices.Clone(from.notes), fmt.Sprintf("%s of %s came along", errs.Counted(from.files, "uncommitted file"), from.place))
}

// handOver makes the first prompt of a new agent a brief of the conversation that it starts from,
// for a CLI that cannot continue that conversation. If the conversation cannot be read the agent
// begins a fresh one, with a note.
func handOver(ctx context.Context, h *app.App, s *session.Session, a *Addition, w *session.Agent, from *Origin, prompt string) {
	messages, err := messagesUntil(ctx, h, s, from)
	if err == nil && len(messages) == 0 {
		err = errors.New("nothing was said in that of " + from.Agent)
	}
	if err != nil {
		a.Notes[w.Name] = append(a.Notes[w.Name], "it begins a fresh conversation: "+err.Error())
		return
	}
	said, _ := transcript.TurnsIn(from.turns, from.talk, from.Turn) // includes turns of which the conversation is unknown
	text, told := handover.Build(handover.Brief{
		Agent: from.Agent, CLI: from.source.CLI, Branch: from.source.Branch, Turn: from.Turn,
		Messages: messages, Ends: badEnds(messages, said), Elsewhere: transcript.TurnsElsewhere(from.turns, from.talk),
		State: handover.State{Turns: from.turns, Work: workOf(ctx, a.Manager, from)},
		Paths: handover.Relocate(from.source.WorktreePath, w.WorktreePath, h.Getenv("HOME")), Prompt: prompt, Limit: h.Config.Agents.BriefKiB << 10,
	})
	count := errs.Counted(told, "message")
	if told < len(messages) {
		count = fmt.Sprintf("%d of %s", told, errs.Counted(len(messages), "message"))
	}
	handed := fmt.Sprintf("%s of %s in a brief of %d KiB", count, from.Agent, (len(text)-len(prompt)+1023)>>10)
	a.prompts[w.Name] = text
	a.Notes[w.Name] = append(a.Notes[w.Name], "handed over "+handed)
	a.Steps = append(a.Steps, fmt.Sprintf("hand over to %s: %s", w.Name, handed))
}

// messagesUntil returns the messages of the origin's conversation, up to the end of its turn. It
// reads them once.
func messagesUntil(ctx context.Context, h *app.App, s *session.Session, from *Origin) ([]history.Message, error) {
	if from.messages != nil || from.unread != nil {
		return from.messages, from.unread
	}
	read, err := transcript.Read(ctx, h.Agent(s, from.source), from.Conversation)
	if err != nil {
		from.unread = errors.New(transcript.Unreadable(from.source, err))
		return nil, from.unread
	}
	from.talk, from.messages = read.ID, read.Messages
	// Later turns are needed as well: the next turn's begin ends this turn's messages.
	records, _ := h.TurnDir(s.Name, from.source.Name).Records()
	for _, r := range records {
		if r.Number == from.Turn {
			said, n := transcript.TurnsIn(records, read.ID, from.Turn)
			from.messages = read.Messages[:transcript.Spans(read.Messages, said)[n].To]
		}
	}
	return from.messages, nil
}

// badEnds describes the ends of turns that did not end well, by the index of each turn's last
// message. Turns without messages are skipped.
func badEnds(messages []history.Message, said []turn.Record) map[int]string {
	ends := map[int]string{}
	for n, at := range transcript.Spans(messages, said) {
		if end := handover.BadEnd(said[n]); end != "" && at.To > at.From {
			ends[at.To-1] = end
		}
	}
	return ends
}

// workOf returns the commits and files of an agent by the end of the turn, nil where git fails.
func workOf(ctx context.Context, m *worktree.Manager, from *Origin) *objects.Work {
	work, err := m.Objects().Work(ctx, from.source.Base(), from.commit, from.Snapshot, handover.MostListed)
	if err != nil {
		return nil
	}
	return &work
}
