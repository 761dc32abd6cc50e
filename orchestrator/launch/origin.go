package launch

import (
	"context"
	"fmt"
	"maps"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// keepOrigins makes refs for the work that children start from: nothing else
// keeps it from git's garbage collection.
func keepOrigins(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, jobs []Job) error {
	for _, j := range jobs {
		w := s.Agent(j.Agent)
		if j.Worktree != WorktreeCreate || w.Parent == "" || w.From == nil || w.From.Snapshot == "" {
			continue
		}
		if _, err := m.CreateRef(ctx, turn.StartRef(w.TurnSession, w.From.Snapshot), w.From.Snapshot); err != nil {
			return fmt.Errorf("the uncommitted work of %s: %w", w.From.Agent, err)
		}
		h.Step("spawn.kept")
	}
	return nil
}

// dropOrigins takes the refs of keepOrigins back, for children that never started:
// their parents still have the work.
func dropOrigins(ctx context.Context, m worktree.Manager, s *session.Session) error {
	kept := map[string]string{}
	for _, w := range s.Agents {
		if w.Parent == "" || w.From == nil || w.From.Snapshot == "" {
			continue
		}
		refs, err := m.Refs(ctx, turn.StartRef(w.TurnSession, w.From.Snapshot))
		if err != nil {
			return err
		}
		maps.Copy(kept, refs)
	}
	return m.DeleteRefs(ctx, kept)
}

// restoreOrigin puts the uncommitted work that an agent starts from into its new
// worktree, before anything else happens there.
func restoreOrigin(ctx context.Context, h *app.App, m worktree.Manager, w *session.Agent, j *Job) {
	if w.From == nil || w.From.Snapshot == "" {
		return
	}
	ref := turn.RescueRef(w.TurnSession, h.Now())
	rescued, err := m.FromSnapshot(ctx, w.WorktreePath, w.From.Snapshot, ref)
	if err != nil {
		j.refuse(fmt.Errorf("the uncommitted work of turn %d of %s could not be put into its worktree: %w", w.From.Turn, w.From.Agent, err))
		return
	}
	if rescued {
		j.Notes = append(j.Notes, "what an interrupted paw left in its worktree is kept in "+ref)
	}
	h.Step("worktree.from-snapshot")
}

// freshCommand starts the CLI of an agent for the first time: in a copy of the
// conversation that it starts from, as long as it has had no turn of its own.
func freshCommand(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, cli cli.CLI, spec cli.Spec, j *Job) (cli.Command, error) {
	if w.From == nil || w.From.Conversation == "" || h.TurnDir(s.Name, w.Name).Highest() > 0 {
		return cli.Launch(spec)
	}
	source := spec
	source.ConversationID = w.From.Conversation
	found, err := cli.Conversation(ctx, source)
	switch {
	case err != nil:
		j.Notes = append(j.Notes, "it begins a fresh conversation: "+err.Error())
		return cli.Launch(spec)
	case !found.Resumable:
		j.Notes = append(j.Notes, "it begins a fresh conversation: "+found.Reason)
		return cli.Launch(spec)
	}
	j.Reason = fmt.Sprintf("with a copy of the conversation of %s", w.From.Agent)
	return cli.Fork(spec, w.From.Conversation)
}
