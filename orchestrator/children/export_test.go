package children

import (
	"context"

	"paw/orchestrator/app"
)

// RunHook gives the tests of this package the hook of the package that imports it.
func RunHook(hook func(ctx context.Context, h *app.App, cli, event string, payload []byte)) {
	runHook = hook
}
