package family_test

import (
	"context"

	"paw/orchestrator"
	"paw/orchestrator/family"
	"paw/orchestrator/home"
)

func init() {
	family.RunHook(func(ctx context.Context, h *home.Home, cli, event string, payload []byte) {
		orchestrator.Hook(ctx, h, orchestrator.Report{CLI: cli, Event: event, Payload: payload})
	})
}
