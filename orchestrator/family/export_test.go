package family

import (
	"context"

	"paw/orchestrator/home"
)

// RunHook gives the tests of this package the hook of the package that imports it.
func RunHook(hook func(ctx context.Context, h *home.Home, cli, event string, payload []byte)) {
	runHook = hook
}
