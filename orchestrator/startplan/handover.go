package startplan

import (
	"context"
	"errors"
	"fmt"

	"paw/orchestrator/app"
	"paw/orchestrator/handover"
	"paw/orchestrator/transcript"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/objects"
)

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
	count := handover.CountedMessages(told)
	if told < len(messages) {
		count = fmt.Sprintf("%d of %s", told, handover.CountedMessages(len(messages)))
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
	read, err := transcript.Read(ctx, h, s, from.source, from.Conversation)
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
func workOf(ctx context.Context, m worktree.Manager, from *Origin) *objects.Work {
	work, err := m.Objects().Work(ctx, from.source.Base(), from.commit, from.Snapshot, handover.MostListed)
	if err != nil {
		return nil
	}
	return &work
}
