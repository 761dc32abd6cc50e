package opencode

import (
	"context"

	"paw/orchestrator/cli"
)

// Uses asks opencode for the conversation. Those of its sub-agents are conversations of their own, which are not counted.
func (o driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	found, err := o.export(ctx, s)
	if err != nil {
		return nil, err
	}
	return found.uses(), nil
}

func (e exportedConversation) uses() []cli.Use {
	var all []cli.Use
	for _, m := range e.Messages {
		t := m.Info.Tokens
		if m.Info.Role != "assistant" || t == nil || t.Input+t.Output+t.Reasoning+t.Cache.Read+t.Cache.Write == 0 {
			continue
		}
		all = append(all, cli.Use{
			At: m.Info.Time.Created.time(), Input: t.Input, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write,
			Output: t.Output + t.Reasoning, Cost: m.Info.Cost, Priced: m.Info.Cost > 0,
		})
	}
	return all
}
