package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// closePatience bounds what follows the end of the CLI: a snapshot, the log, the tag.
const closePatience = 2 * time.Minute

// RunOptions is what the user asked of paw run.
type RunOptions struct {
	Agent  string      // "" makes a new agent, see New
	New    *AddOptions // the new agent: one item in CLIs, at most one in Branches
	Prompt string
	Type   turn.Type // TypePrompt when empty
	// Out gets what the CLI says while it works, Err its standard error; nil for nothing.
	Out, Err io.Writer
	// Started, which may be nil, gets a function that kills the CLI and all it
	// started at once, for a user who does not want to wait any longer.
	Started func(kill func())
}

// Ran is a headless turn that was begun, however it ended.
type Ran struct {
	Session *session.Session
	Agent   string
	Turn    ListedTurn
	Notes   []string // what the user would otherwise miss
}

// TagTakenError means that a turn cannot have its number: the tag that its end
// would get exists already, and paw did not make it for this turn.
type TagTakenError struct {
	Number int
	Tag    string
}

func (e *TagTakenError) Error() string {
	return fmt.Sprintf("turn %d: tag %s exists already", e.Number, e.Tag)
}

// Run does one turn of an agent in the foreground, without a pane: the CLI's
// one-shot mode in the agent's worktree and conversation. It is refused while the
// agent's CLI runs, and keeps everybody else from starting it. With a turn that
// did not succeed come both the turn and an error.
func (p *Paw) Run(ctx context.Context, s *session.Session, o RunOptions) (*Ran, error) {
	if o.Type == "" {
		o.Type = turn.TypePrompt
	}
	if err := o.Type.Validate(); err != nil {
		return nil, failf(KindUsage, "--type: %w", err)
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return nil, failf(KindUsage, "the prompt is empty")
	}
	p, err := p.configuredFor(s)
	if err != nil {
		return nil, err
	}
	if err := p.requireGit(ctx); err != nil {
		return nil, err
	}
	var notes []string
	if o.Agent == "" {
		if s, o.Agent, notes, err = p.addHeadless(ctx, s, o); err != nil {
			return nil, err
		}
	}
	r, err := p.prepareRun(ctx, s, o)
	if err != nil {
		return nil, err
	}
	defer r.giveBack()
	r.notes = append(notes, r.notes...)
	return r.do(ctx)
}

// headlessTurn is one headless turn on its way; whoever has it holds the agent's lock.
type headlessTurn struct {
	*heldAgent
	p       *Paw
	o       RunOptions
	spec    agent.Spec
	command agent.Command
	one     *turn.Turn
	notes   []string
}

// prepareRun refuses what cannot work, takes the agent's lock and decides how to
// run its CLI. Nothing of a turn is written.
func (p *Paw) prepareRun(ctx context.Context, s *session.Session, o RunOptions) (r *headlessTurn, err error) {
	w, err := agentNamed(s, o.Agent)
	if err != nil {
		return nil, err
	}
	cli, executable, err := p.cliOf(w)
	if err != nil {
		return nil, err
	}
	if err := p.requireHeadless(cli, executable, o.Prompt); err != nil {
		return nil, err
	}
	held, err := p.holdAgent(ctx, s, o.Agent, cli)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			held.giveBack()
		}
	}()
	if err := worktree.Verify(held.w.WorktreePath, held.s.GitCommonDir, ""); err != nil {
		return nil, failf(KindRefused, "%s: not run: %w", o.Agent, err).hint("paw recover %s", s.Name)
	}
	p.cutTurn(ctx, held.s, *held.w, turn.ReasonCrash)
	r = &headlessTurn{heldAgent: held, p: p, o: o}
	return r, r.choose(ctx, executable)
}

// requireHeadless refuses CLIs without a one-shot mode, and prompts that it cannot take.
func (p *Paw) requireHeadless(cli agent.CLI, executable, prompt string) error {
	_, err := cli.Headless(p.draftSpec(cli, executable, prompt))
	var refused *agent.PromptError
	switch {
	case errors.Is(err, agent.ErrNoHeadless):
		return failf(KindUsage, "%s: has no one-shot mode that paw knows", cli.Name()).hint("paw clis")
	case errors.As(err, &refused):
		return failf(KindUsage, "%w", err)
	}
	return nil // anything else is about a conversation, and this one is made up
}

// choose settles the conversation of the turn, writes a new one into the record
// before it exists, and builds the command.
func (r *headlessTurn) choose(ctx context.Context, executable string) error {
	p := r.p
	r.spec = p.spec(r.s, r.w, executable)
	r.spec.Hook, r.spec.Prompt = "", r.o.Prompt // paw itself knows the begin and the end
	facts := recoverFacts{}
	p.conversationFacts(ctx, r.s, r.cli, r.spec, &facts)
	ids := facts.learnt
	if len(ids) > 0 {
		r.spec.ConversationID = ids[len(ids)-1]
	}
	switch {
	case facts.resumable:
	case !r.cli.Facts().ChoosesID:
		r.spec.ConversationID = ""
	case !facts.keepID:
		r.spec.ConversationID = facts.newID
	}
	if !facts.resumable && r.w.TurnHighWater > 0 {
		r.notes = append(r.notes, "a fresh conversation: "+facts.freshReason)
	}
	if err := r.remember(ctx, append(ids, r.spec.ConversationID)...); err != nil {
		return err
	}
	var err error
	if r.command, err = r.cli.Headless(r.spec); err != nil {
		return failf(KindError, "%s: %w", r.w.Agent, err)
	}
	for _, file := range r.command.Files {
		if err := writePrivate(file.Path, file.Content); err != nil {
			return err
		}
	}
	return nil
}

// remember adds conversations to the record, the newest last.
func (r *headlessTurn) remember(ctx context.Context, ids ...string) error {
	before := r.w.Conversation()
	for _, id := range ids {
		r.w.AddConversation(id)
	}
	if r.w.Conversation() == before {
		return nil
	}
	_, err := r.p.update(ctx, r.s.Name, func(rec *session.Session) error {
		if w := rec.Worktree(r.w.Agent); w != nil {
			for _, id := range ids {
				w.AddConversation(id)
			}
		}
		return nil
	})
	return err
}

// do runs the turn from its claim to its tag.
func (r *headlessTurn) do(ctx context.Context) (*Ran, error) {
	if ctx.Err() != nil {
		return nil, r.interrupted(0)
	}
	// What is begun is finished: the user's Ctrl-C is for the CLI.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if err := r.begin(lasting); err != nil {
		return nil, err
	}
	r.p.Step("run.executed")
	end := r.execute(ctx)
	r.p.Step("run.ended")
	lasting, cancel = context.WithTimeout(lasting, closePatience)
	defer cancel()
	failure := r.close(lasting, end)
	ran, err := r.ran(lasting)
	if failure == nil {
		failure = err
	}
	return ran, failure
}

// begin claims the number and writes START and EXECUTE.
func (r *headlessTurn) begin(ctx context.Context) error {
	err := r.p.withTurns(ctx, r.s, r.w, func(t *turns) error {
		t.strict = true
		one, err := t.begin(ctx, turn.Start{
			Type: r.o.Type, Prompt: r.o.Prompt, Conversation: r.spec.ConversationID,
			Launch: launchID(r.s.Name, r.w.Agent, r.generation),
		})
		if err != nil {
			return err
		}
		r.one = one
		argv := recordedCommand(r.command.Argv, r.o.Prompt)
		return one.Execute("one-shot mode: " + strings.Join(argv, " "))
	})
	var taken *TagTakenError
	if errors.As(err, &taken) {
		return failf(KindError, "%s: %w", r.w.Agent, err).hint("git show --no-patch %s", taken.Tag)
	}
	return err
}

// close writes how the turn ended; the error is what the user is told.
func (r *headlessTurn) close(ctx context.Context, end agent.Ended) error {
	answer, failed := turnResult(r.cli, end)
	var failure error
	err := r.p.withTurns(ctx, r.s, r.w, func(t *turns) error {
		r.learn(ctx, t, end)
		switch {
		case end.Interrupted:
			failure = r.interrupted(r.one.Number())
			t.abort(ctx, r.one, &turn.Abort{Reason: turn.ReasonInterrupted})
		case failed != nil:
			failure = failf(KindAgentFailed, "%s: turn %d failed: %s", r.w.Agent, r.one.Number(), failed.Message).hint("paw turns %s", r.w.Agent)
			t.abort(ctx, r.one, failed)
		default:
			_, err := t.finish(ctx, r.one, answer)
			return err
		}
		return nil
	})
	r.p.claimAfter(r.s.Name, r.w.Agent, Claim{})
	if failure == nil && err != nil {
		return failf(KindError, "%s: turn %d: %w", r.w.Agent, r.one.Number(), err).hint("paw recover %s", r.s.Name)
	}
	return failure
}

// interrupted is the error of a turn that the user stopped.
func (r *headlessTurn) interrupted(number int) error {
	if number == 0 {
		return failf(KindInterrupted, "%s: interrupted, no turn was begun", r.w.Agent)
	}
	return failf(KindInterrupted, "%s: turn %d interrupted", r.w.Agent, number)
}

// learn remembers the conversation of a CLI that chose it itself, and its file.
func (r *headlessTurn) learn(ctx context.Context, t *turns, end agent.Ended) {
	if !r.cli.Facts().ChoosesID {
		id := agent.StreamConversation(end.Stdout)
		if ids, err := r.cli.Learn(ctx, r.spec); id == "" && err == nil && len(ids) > 0 {
			id = ids[len(ids)-1]
		}
		if id != "" {
			r.spec.ConversationID = id
			_ = t.keepConversation(ctx, id)
		}
	}
	found, err := r.cli.Conversation(ctx, r.spec)
	if err == nil && found.Transcript != "" && found.Transcript != t.w.TranscriptPath {
		_ = t.keepTranscript(ctx, found.Transcript)
	}
}

// ran reads back what became of the turn.
func (r *headlessTurn) ran(ctx context.Context) (*Ran, error) {
	ran := &Ran{Session: r.s, Agent: r.w.Agent, Turn: ListedTurn{Record: r.one.Record()}, Notes: r.notes}
	repository, err := worktree.Discover(r.s.GitCommonDir)
	if err != nil {
		return ran, err
	}
	list, _, err := r.p.listTurns(ctx, r.p.manager(repository), r.s, *r.w)
	if err != nil {
		return ran, err
	}
	for _, one := range list.Turns {
		if one.Number == r.one.Number() {
			ran.Turn = one
		}
	}
	return ran, nil
}
