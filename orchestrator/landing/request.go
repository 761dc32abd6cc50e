package landing

import (
	"context"

	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/hosting"
	"paw/session"
)

// lookAtServer finds the program that can create a pull request, and the request of the agent that is open already. Without
// --base this one keeps its base, which in a stack is the branch of another agent, until that is merged.
func (p *puller) lookAtServer(ctx context.Context) error {
	from, ok := hosting.PlaceOf(p.push.Address)
	into, both := hosting.PlaceOf(p.base.Address)
	if !ok || !both {
		return nil
	}
	p.request = hosting.Request{From: from, Into: into, Branch: p.done.Branch, Base: p.done.Base, Draft: p.options.Draft, Web: p.options.Web}
	program, err := forge.Program(p.App, into, p.Session.RepoPath, p.name(), p.base.Name)
	if err != nil {
		return nil //nolint:nilerr // the user asks for it in the browser
	}
	p.program = &program
	if at, _, known := hosting.PullIn(p.Record.PullRequest); !known || at != into || p.options.Base != "" {
		return nil
	}
	open, err := forge.PullOf(ctx, p.App, p.Session, p.Record.Name)
	if err != nil {
		return errs.WithHints(err, errs.Line("paw pr %s --base %s", p.name(), errs.Quote(p.done.Base)))
	}
	if open.State != "open" {
		return nil
	}
	if p.open = &open; open.Base == p.done.Base {
		return nil
	}
	merged, err := p.merged(ctx, open.Base)
	if !merged {
		p.done.Base, p.request.Base = open.Base, open.Base
	}
	return err
}

// merged reports whether the server has merged the pull request of the agent that works on a branch.
func (p *puller) merged(ctx context.Context, branch string) (bool, error) {
	sessions, err := p.allRecords()
	for _, s := range sessions {
		for i := range s.Agents {
			w := &s.Agents[i]
			if s.GitCommonDir != p.Session.GitCommonDir || s.Host != p.Session.Host || w.Branch != branch || w.PullRequest == "" {
				continue
			}
			pull, err := forge.PullOf(ctx, p.App, s, w.Name)
			return pull.State == "merged", err
		}
	}
	return false, err
}

// ask creates the pull request unless there is one, or says where the user can create it.
func (p *puller) ask(ctx context.Context) error {
	byHand := p.request.From.Address(p.done.Branch, p.request.Into, p.done.Base)
	if p.program == nil {
		p.done.ByHand, p.done.Address = true, byHand
		return nil
	}
	if p.open != nil {
		p.done.Open, p.done.Address = true, p.Record.PullRequest
		return p.retarget(ctx)
	}
	open, err := p.program.Find(ctx, p.request)
	if err == nil && open != "" {
		p.done.Open, p.done.Address = true, open
		return p.keepAddress(ctx)
	}
	if err == nil {
		p.done.Address, err = p.program.Ask(ctx, p.request)
	}
	if err != nil {
		return errs.New(errs.Failed, "%s: %s has %s, but there is no pull request: %w", p.name(), p.push.Name, p.done.Branch, err).
			Hint("%s", byHand)
	}
	p.done.Asked = true
	p.App.Step("pr.asked")
	return p.keepAddress(ctx)
}

// retarget gives the open request its new base.
func (p *puller) retarget(ctx context.Context) error {
	if p.open.Base == p.done.Base {
		return nil
	}
	if err := p.program.Retarget(ctx, p.request.Into, p.open.Number, p.done.Base); err != nil {
		return errs.New(errs.Failed, "%s: its pull request %d stays on %s: %w", p.name(), p.open.Number, p.open.Base, err).Hint("paw pr %s", p.name())
	}
	p.App.Notef("pull request %d goes into %s now: %s is merged", p.open.Number, p.done.Base, p.open.Base)
	return nil
}

// keepAddress records the URL of the pull request, for the desk. While the form in the browser is
// open, there is none.
func (p *puller) keepAddress(ctx context.Context) error {
	if p.done.Address == "" || p.Record.PullRequest == p.done.Address {
		return nil
	}
	return p.App.UpdateAgent(ctx, p.Session.Name, p.Record.Name, func(w *session.Agent) { w.PullRequest = p.done.Address })
}
