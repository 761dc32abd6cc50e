package children_test

import (
	"context"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
)

func init() {
	children.RunHook(func(ctx context.Context, h *app.App, cli, event string, payload []byte) {
		orchestrator.Hook(ctx, h, orchestrator.Report{CLI: cli, Event: event, Payload: payload})
	})
}
