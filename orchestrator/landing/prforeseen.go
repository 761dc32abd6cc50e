package landing

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/errs"
)

// foresee refuses, in a dry run, a branch that the remote cannot have beside another one. Without it, the push says so.
func (p *puller) foresee(ctx context.Context) error {
	if !p.options.DryRun || p.done.Nothing || p.there != "" {
		return nil
	}
	others := []string{p.done.Branch + "/*"}
	for i, b := range p.done.Branch {
		if b == '/' {
			others = append(others, p.done.Branch[:i])
		}
	}
	found, _, err := p.Repo.Remotes().Has(ctx, p.options.Terminal, p.push.Address, others...)
	if err != nil || len(found) == 0 {
		return err
	}
	return errs.New(errs.Failed, "%s: %s cannot have %s beside its branch %s", p.name(), p.push.Name, p.done.Branch, slices.Min(slices.Collect(maps.Keys(found)))).
		Hint("%s", p.line())
}
